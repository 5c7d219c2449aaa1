import type { FeedbackRequest } from '../../schemas/replies.ts';
import { haveSameMeaning, meaningOf } from '../../text/meaning.ts';
import { wordsOf } from '../../text/words.ts';

/** A recorded question with the person's own reply, and the predictions made shortly before it, the latest first. */
export interface AnsweredQuestion {
  prompt: string;
  reply: string;
  predictions: readonly AskedPrediction[];
}

interface AskedPrediction {
  id: string;
  /** What the agent said that it would ask. */
  question: string;
  response: string;
  /** True if nobody has decided on it, or a decision was only reported. */
  isOpen: boolean;
}

export interface Settlement {
  id: string;
  feedback: FeedbackRequest;
}

/**
 * Decides on predictions by what the person really replied. A question settles the latest prediction of it alone, so that
 * one reply is one decision.
 */
export function settlementsOf(answered: readonly AnsweredQuestion[]): Settlement[] {
  return answered.flatMap(({ prompt, reply, predictions }) => {
    const asked = predictions.find(({ question }) => isSameQuestion(question, prompt));
    if (asked === undefined || !asked.isOpen || reply.trim() === '') return [];
    const { id, response } = asked;
    const isSame = meaningOf(response) === meaningOf(reply) || haveSameMeaning(response, reply);
    return [{ id, feedback: { status: isSame ? 'accepted' : 'edited', actual_response: reply } }];
  });
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
