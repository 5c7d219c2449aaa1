import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { type Continuation, continueDraft } from './local/continuation.ts';
import { repeatPrompt } from './local/next-prompt.ts';
import { readTask } from './local/sources.ts';
import type { Call, Guess, Provider } from './provider.ts';

/**
 * The built-in predictor: no key, no network, no weights. It only knows the texts of the request: it continues a draft the
 * way they continue after the same words, and suggests a prompt that the person repeats. Otherwise it abstains.
 */
export class LocalProvider implements Provider {
  readonly ask = null;

  async predict(task: PredictionTask, call: Call): Promise<Guess> {
    call.signal.throwIfAborted();
    const { text, confidence } = guess(task);
    return { completion: text, confidence, usage: { inputTokens: 0, outputTokens: 0 }, model: 'local' };
  }
}

function guess(task: PredictionTask): Continuation {
  if (task.draft.trim() === '') {
    return task.mode === 'next_prompt' ? repeatPrompt(task.messages) : { text: '', confidence: 0 };
  }
  const { corpus, end } = readTask(task);
  const { text, confidence } = continueDraft(corpus, end);
  const standsAlone = task.mode === 'next_prompt' && text !== '';
  return { text: standsAlone ? task.draftHead + task.draft + text : text, confidence };
}
