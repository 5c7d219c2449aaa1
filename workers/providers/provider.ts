import type { PredictionTask } from '../../shared/domain/context-envelope.ts';

/**
 * What a model thinks comes next. `completion` is appended to the draft (`complete_draft`) or stands alone
 * (`next_prompt`: the draft is its beginning); empty means that the model has nothing to say. It is well-formed text
 * without NUL. `confidence` is 0 to 1.
 */
export interface Guess {
  completion: string;
  confidence: number;
  usage: Usage;
}

/** 0 where a provider does not say. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** One attempt's limits. `signal` ends the attempt and closes its socket; `timeoutMs` bounds it. */
export interface Call {
  model: string;
  signal: AbortSignal;
  timeoutMs: number;
}

/** The interface that every language model sits behind. One call of `predict` is at most one request upstream. */
export interface Provider {
  /** Rejects with `ProviderError` for whatever the provider did, and with the signal's reason when aborted. */
  predict(task: PredictionTask, call: Call): Promise<Guess>;
}

/** Why an attempt gave no answer. `timeout` is the only kind that a further attempt inside the same deadline may mend. */
export type ProviderFault = 'timeout' | 'not_configured' | 'rate_limited' | 'failed';

/** `message` is for the log: it names the fault and a status, never a text of a person or a key. */
export class ProviderError extends Error {
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault, message: string) {
    super(message);
    this.name = 'ProviderError';
    this.fault = fault;
  }
}
