import type { PredictionTask } from '../../shared/domain/context-envelope.ts';

/**
 * A model's guess. `completion` is appended to the draft (`complete_draft`) or is a whole message that starts with the
 * draft (`next_prompt`); empty means that the model has no guess. What the model wrote of it is displayable
 * (`shared/domain/model-text.ts`). `confidence` is 0 to 1.
 */
export interface Guess {
  completion: string;
  confidence: number;
  usage: Usage;
}

/** 0 if the provider does not report it. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** The limits of one attempt. `signal` aborts it and closes its socket; `timeoutMs` bounds it. */
export interface Call {
  model: string;
  signal: AbortSignal;
  timeoutMs: number;
}

/** The interface to every language model. `predict` sends at most one request upstream. */
export interface Provider {
  /** Rejects with a `ProviderError` for any fault of the provider, and with the signal's reason when aborted. */
  predict(task: PredictionTask, call: Call): Promise<Guess>;
}

/** Why an attempt failed. Only after a `timeout` can another attempt within the same deadline help. */
export type ProviderFault = 'timeout' | 'not_configured' | 'rate_limited' | 'failed';

/** `message` is for the log: it has the fault and a status, never a person's text or a key. */
export class ProviderError extends Error {
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault, message: string) {
    super(message);
    this.name = 'ProviderError';
    this.fault = fault;
  }
}
