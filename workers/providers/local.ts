import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { LOCAL } from '../../shared/domain/provider-call.ts';
import { MIN_CONFIDENCE } from '../../shared/schemas/limits.ts';
import { endOf } from '../../shared/text/phrases.ts';
import { type Continuation, continueDraft } from './local/continuation.ts';
import { evidenceFor } from './local/evidence.ts';
import { repeatPrompt } from './local/next-prompt.ts';
import { type Call, type Guess, NO_USAGE, type Provider } from './provider.ts';

/**
 * The built-in predictor: no key, no network, no weights. It only knows the texts of the request: it continues a draft the
 * way they continue after the same words, and suggests a prompt that the person repeats. Otherwise it abstains.
 */
export class LocalProvider implements Provider {
  readonly ask = null;

  async predict(task: PredictionTask, call: Call): Promise<Guess> {
    call.signal.throwIfAborted();
    const { text, confidence } = guess(task);
    return { completion: text, confidence, usage: NO_USAGE, model: LOCAL };
  }
}

const NOTHING: Continuation = { text: '', confidence: 0 };
/** Threshold of an app's default, and of a person who has not judged any suggestion yet. */
const NO_HINTS = { minConfidence: MIN_CONFIDENCE, taken: 0, dismissed: 0 };

function guess(task: PredictionTask): Continuation {
  if (task.draft.trim() === '') {
    return task.mode === 'next_prompt' ? repeatPrompt(task.messages) : NOTHING;
  }
  const end = endOf(task.draft);
  if (end.tails.at(-1) === '\n') return NOTHING;
  const { text, confidence } = continueDraft(evidenceFor(task, end), end, task.local ?? NO_HINTS);
  const standsAlone = task.mode === 'next_prompt' && text !== '';
  return { text: standsAlone ? task.draftHead + task.draft + text : text, confidence };
}
