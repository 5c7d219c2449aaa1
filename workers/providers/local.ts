import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import { MIN_CONFIDENCE } from '../../shared/schemas/limits.ts';
import type { Message } from '../../shared/schemas/predictions.ts';
import { endsWithClosedQuestion } from '../../shared/text/meaning.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { maskSecrets } from '../../shared/text/secrets.ts';
import { type Continuation, continueDraft } from './local/continuation.ts';
import { evidenceFor, isWrittenByPerson } from './local/evidence.ts';
import { type CallLimits, type Guess, NO_USAGE, type Provider } from './provider.ts';

/**
 * The built-in predictor: no key, no network, no weights. It reads the texts of the request and, with a connection or
 * for the account itself, the person's memory. It continues a draft the way these texts continue after the same words,
 * or suggests a prompt that the person repeats. Otherwise it abstains.
 */
export class LocalProvider implements Provider {
  readonly ask = null;

  async predict(task: PredictionTask, call: CallLimits): Promise<Guess> {
    call.signal.throwIfAborted();
    const { text, confidence } = guess(task);
    return { completion: text, confidence, usage: NO_USAGE, model: LOCAL_MODEL };
  }
}

const NO_CONTINUATION: Continuation = { text: '', confidence: 0 };
/** Hints for an app with default settings, and a person who has not accepted or dismissed any suggestion yet. */
const NO_HINTS = { minConfidence: MIN_CONFIDENCE, taken: 0, dismissed: 0 };

function guess(task: PredictionTask): Continuation {
  if (task.draft.trim() === '') {
    return task.mode === 'next_prompt' ? repeatPrompt(task.messages) : NO_CONTINUATION;
  }
  const end = draftEndOf(task.draft);
  if (end.tails.at(-1) === '\n') return NO_CONTINUATION;
  const { text, confidence } = continueDraft(evidenceFor(task, end), end, task.local ?? NO_HINTS);
  const standsAlone = task.mode === 'next_prompt' && text !== '';
  return { text: standsAlone ? task.draftHead + task.draft + text : text, confidence };
}

/** Length of a message's end that describes the situation, in UTF-16 units. */
const SITUATION_CHARS = 600;
/** Weight of a prompt from an entirely different situation. A prompt from the same situation has the weight 1. */
const OTHER_SITUATION_WEIGHT = 0.2;
/** Weight of a new prompt, which the person has never written before. Nearly all prompts of real people are new. */
const NEW_PROMPT_WEIGHT = 2;

/**
 * Returns the prompt that the person is most likely to repeat. Each message of the person votes for itself. The more
 * similar the message before it is to the latest message, the greater the weight of its vote. The confidence is the
 * winner's share. The text is empty if the person has written nothing yet. It is also empty if the person wrote the
 * winner only once, unless the latest message asks for an approval or a choice.
 */
function repeatPrompt(messages: readonly Message[]): Continuation {
  const latestSituation = situation(messages.at(-1));
  const votes = new Map<string, { text: string; weight: number; count: number }>();
  let best = { text: '', weight: 0, count: 0 };
  let total = NEW_PROMPT_WEIGHT;
  for (const [i, message] of messages.entries()) {
    const text = message.content.trim();
    if (!isWrittenByPerson(message) || text === '' || maskSecrets(text) !== text || !isDisplayable(text))
      continue;
    const likeness = similarity(latestSituation, situation(messages[i - 1]));
    const weight = OTHER_SITUATION_WEIGHT + (1 - OTHER_SITUATION_WEIGHT) * likeness ** 2;
    const before = votes.get(normalize(text)) ?? { weight: 0, count: 0 };
    const vote = { text, weight: weight + before.weight, count: before.count + 1 };
    votes.set(normalize(text), vote);
    if (vote.weight >= best.weight) best = vote;
    total += weight;
  }
  if (best.count < 2 && !endsWithClosedQuestion(messages.at(-1)?.content ?? ''))
    return { text: '', confidence: 0 };
  return { text: best.text, confidence: best.weight / total };
}

/** Returns the distinct words at the end of a message. */
function situation(message: Message | undefined): Set<string> {
  return new Set(
    message?.content
      .slice(-SITUATION_CHARS)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu),
  );
}

/** Returns the Dice coefficient of two sets of words: 0 if they have no word in common, 1 if they are equal. */
function similarity(a: Set<string>, b: Set<string>): number {
  return (2 * a.intersection(b).size) / Math.max(1, a.size + b.size);
}

/** Normalizes a prompt for comparison: its case, spacing and final full stop or exclamation mark. */
function normalize(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.!…。]$/, '');
}
