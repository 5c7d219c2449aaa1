import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import { MIN_CONFIDENCE } from '../../shared/schemas/limits.ts';
import type { Message } from '../../shared/schemas/predictions.ts';
import { endsWithClosedQuestion } from '../../shared/text/meaning.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { maskSecrets } from '../../shared/text/secrets.ts';
import { backgroundsFor, languageOf } from './local/background.ts';
import { type Choice, type Continuation, chosen, continueDraft } from './local/choice.ts';
import { evidenceFor, isWrittenByPerson } from './local/evidence.ts';
import { type CallLimits, type Guess, NO_USAGE, type Provider } from './provider.ts';

/**
 * The built-in predictor, which needs no key and no network. Searches the request and the memory for the draft's last
 * words, and suggests the words that follow them there. For an empty draft in the mode `next_prompt`, suggests an
 * earlier prompt of the person.
 */
export class LocalProvider implements Provider {
  readonly ask = null;

  async predict(task: PredictionTask, call: CallLimits): Promise<Guess> {
    call.signal.throwIfAborted();
    const { text, ...choice } = guess(task);
    return { completion: text, ...choice, usage: NO_USAGE, model: LOCAL_MODEL };
  }
}

const NO_CONTINUATION: Choice = { text: '', confidence: 0, together: 0, alternatives: [] };
const NO_HINTS = { minConfidence: MIN_CONFIDENCE, taken: 0, dismissed: 0 };

function guess(task: PredictionTask): Choice {
  if (task.draft.trim() === '') {
    return task.mode === 'next_prompt'
      ? repeatPrompt(task.messages, task.alternatives ?? 0)
      : NO_CONTINUATION;
  }
  const end = draftEndOf(task.draft);
  if (end.tails.at(-1) === '\n') return NO_CONTINUATION;
  const hints = task.local ?? NO_HINTS;
  const choice = continueDraft(evidenceFor(task, end), end, backgroundsFor(task), hints, task.alternatives);
  if (task.mode === 'complete_draft' || choice.text === '') return choice;
  const whole = (text: string) => task.draftHead + task.draft + text;
  return { ...choice, text: whole(choice.text), alternatives: choice.alternatives.map(whole) };
}

/** Number of UTF-16 units at the end of a message that are compared with another message. */
const SITUATION_CHARS = 600;
/**
 * Weight of an earlier prompt if the message before it has no word in common with the latest message. If all words are
 * the same, the weight is 1.
 */
const OTHER_SITUATION_WEIGHT = 0.2;
/** Weight of the possibility that the person types a new prompt. It lowers the confidence of earlier prompts. */
const NEW_PROMPT_WEIGHT = 2;

/** Length of a prompt that is offered beside another, in UTF-16 units. */
const ALTERNATIVE_CHARS_MAX = 80;

/**
 * Returns the earlier prompt that the person is most likely to type again. A prompt has more weight if it is frequent,
 * and if the message before it resembles the latest message. A prompt that occurred only once is returned only if the
 * latest message asks for an approval or a choice. Then the alternatives are other short prompts, and short answers.
 */
function repeatPrompt(messages: readonly Message[], alternatives: number): Choice {
  const latestSituation = situationWords(messages.at(-1));
  const votes = new Map<string, { text: string; weight: number; count: number }>();
  let best = { text: '', weight: 0, count: 0 };
  let total = NEW_PROMPT_WEIGHT;
  for (const [i, message] of messages.entries()) {
    const text = message.content.trim();
    if (!isWrittenByPerson(message) || text === '' || maskSecrets(text) !== text || !isDisplayable(text))
      continue;
    const likeness = similarity(latestSituation, situationWords(messages[i - 1]));
    const weight = OTHER_SITUATION_WEIGHT + (1 - OTHER_SITUATION_WEIGHT) * likeness ** 2;
    const before = votes.get(normalize(text)) ?? { weight: 0, count: 0 };
    const vote = { text, weight: weight + before.weight, count: before.count + 1 };
    votes.set(normalize(text), vote);
    if (vote.weight >= best.weight) best = vote;
    total += weight;
  }
  const asked = messages.at(-1)?.content ?? '';
  const isClosed = endsWithClosedQuestion(asked);
  if (best.count < 2 && !isClosed) return NO_CONTINUATION;
  const others: Continuation[] = [...votes.values()]
    .filter(({ text }) => isClosed && text !== best.text && text.length <= ALTERNATIVE_CHARS_MAX)
    .map(({ text, weight }) => ({ text, confidence: weight / total }));
  if (isClosed)
    for (const [text, confidence] of shortAnswersTo(asked))
      if (!votes.has(normalize(text))) others.push({ text, confidence });
  return chosen({ text: best.text, confidence: best.weight / total }, others, alternatives);
}

const OPTION = /(?:^|[\s(])([1-9]|[a-dA-D])[.):]\s/g;
/** How often people give a short answer that they have not given before. */
const SHORT_ANSWER_CONFIDENCE = 0.05;
const YES_AND_NO: Record<string, readonly string[]> = {
  de: ['ja', 'nein'],
  en: ['yes', 'no'],
  es: ['sí', 'no'],
  fr: ['oui', 'non'],
};

/** Returns the names of the options in a question, or else yes and no. */
function shortAnswersTo(asked: string): [text: string, confidence: number][] {
  const end = asked.slice(-SITUATION_CHARS);
  const options = [...new Set(Array.from(end.matchAll(OPTION), ([, name = '']) => name))];
  const answers = options.length > 1 ? options : (YES_AND_NO[languageOf(end) ?? 'en'] ?? []);
  return answers.map((text) => [text, SHORT_ANSWER_CONFIDENCE]);
}

function situationWords(message: Message | undefined): Set<string> {
  return new Set(
    message?.content
      .slice(-SITUATION_CHARS)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu),
  );
}

/** Returns the Dice coefficient, from 0 (no common word) to 1. */
function similarity(a: Set<string>, b: Set<string>): number {
  return (2 * a.intersection(b).size) / Math.max(1, a.size + b.size);
}

/** Ignores case, the amount of white space, and a full stop, ellipsis or exclamation mark at the end. */
function normalize(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.!…。]$/, '');
}
