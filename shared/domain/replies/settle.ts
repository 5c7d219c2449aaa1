import type { FeedbackRequest } from '../../schemas/replies.ts';
import { haveSameMeaning } from '../../text/meaning.ts';
import { wordsOf } from '../../text/words.ts';

/** A recorded question with the person's own reply, and the predictions made shortly before it, the latest first. */
export interface AnsweredQuestion {
  prompt: string;
  /** Id of the raw row with the reply. */
  replyId: string;
  reply: string;
  predictions: readonly AskedPrediction[];
}

interface AskedPrediction {
  id: string;
  /** What the agent said that it would ask. */
  question: string;
  response: string;
  /** Seconds from the prediction to the question; negative if clocks differ. */
  age: number;
  /** True if nobody has decided on it, or a decision was only reported. */
  isOpen: boolean;
}

export interface Settlement {
  id: string;
  replyId: string;
  feedback: FeedbackRequest;
}

/** Most agents ask the person within this time after a prediction. */
const FRESH_S = 90;

/**
 * Decides on predictions by what the person really replied, in the order in which it was asked. One reply is one
 * decision: of several predictions of a question that was asked once, it settles the latest.
 */
export function settlementsOf(answered: readonly AnsweredQuestion[]): Settlement[] {
  const settled = new Set<string>();
  const matches = answered.map(({ prompt, predictions }) =>
    predictions.filter(({ question }) => isSameQuestion(question, prompt)),
  );
  return answered.flatMap(({ replyId, reply }, place) => {
    const [latest] = matches[place] ?? [];
    if (!latest?.isOpen || reply.trim() === '') return [];
    const open = matches[place]?.filter(({ id, isOpen }) => isOpen && !settled.has(id)) ?? [];
    const fresh = open.filter(({ age }) => age <= FRESH_S);
    const earliest = fresh.at(-1);
    // Sessions at the same time ask the same: then each asked once, and the first question is the first prediction's.
    const times = matches.slice(place).filter((ones) => ones.some(({ id }) => id === earliest?.id)).length;
    const chosen = earliest && times >= fresh.length ? earliest : open[0];
    if (chosen === undefined) return [];
    settled.add(chosen.id);
    return [{ id: chosen.id, replyId, feedback: feedbackOn(chosen, reply) }];
  });
}

function feedbackOn({ response }: AskedPrediction, reply: string): FeedbackRequest {
  const isSame = haveSameMeaning(response, reply);
  return { status: isSame ? 'accepted' : 'edited', actual_response: reply };
}

/** Choices that follow a question asked by a tool, one a line. */
const CHOICES = /(?:\n- [^\n]*)+$/u;
/** Number of words from which on the end of an agent's question is the whole of it. */
const QUESTION_WORDS_MIN = 4;

/**
 * An agent may put the question at the end of its message, with choices after it, or may have told Forecue more than it
 * then asked.
 */
function isSameQuestion(question: string, prompt: string): boolean {
  const asked = wordsOf(question);
  const prompts = [prompt, prompt.replace(CHOICES, '')].map(wordsOf);
  return prompts.some(
    (said) => endsWith(said, asked) || (said.length >= QUESTION_WORDS_MIN && endsWith(asked, said)),
  );
}

function endsWith(words: readonly string[], end: readonly string[]): boolean {
  return end.length > 0 && end.every((word, place) => words[words.length - end.length + place] === word);
}
