import type { CallLimits, StructuredQuestion, Usage } from './provider.ts';

/** Formats from the strictest to the loosest. */
export const ANSWER_FORMATS = ['json_schema', 'json_object', 'text'] as const;

/**
 * Parameters that limit the tokens of an answer. `max_tokens` is tried first: OpenAI's reasoning models refuse it with
 * an error, whereas other servers silently ignore `max_completion_tokens`, so that nothing is limited.
 */
export const LIMIT_PARAMETERS = ['max_tokens', 'max_completion_tokens'] as const;

/**
 * Parameters that not every server accepts: how much the model thinks, which cache it uses, and whether the answer
 * states how likely each token is.
 */
export const OPTIONAL_PARAMETERS = ['reasoning_effort', 'prompt_cache_key', 'logprobs'] as const;
export type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number];

export interface Question extends Omit<StructuredQuestion<unknown>, 'check'> {
  /**
   * If set, the model is asked to think little, and a model that thinks gets this number of tokens besides `maxTokens`.
   */
  thoughtTokens?: number;
  /** If true, the server is asked for the probabilities of the answer's tokens. */
  logprobs?: true;
  /** Reports whether a text that was cut off is an answer nonetheless, so that the model is not asked again. */
  isUsable?(text: string): boolean;
}

export interface Dialect {
  format: (typeof ANSWER_FORMATS)[number];
  limit: (typeof LIMIT_PARAMETERS)[number];
  /** Optional parameters that the server accepts. */
  extras: readonly OptionalParameter[];
  thinks: boolean;
}

export interface ChatRequest extends Question, Dialect {}

/** A token of an answer, with the logarithm of its probability. */
export interface WrittenToken {
  token: string;
  logprob: number;
}

/** `cut_off` means that the answer reached the limit of output tokens; its text may be empty. */
export type Completion = {
  /** Null if the server counted no tokens. */
  usage: Usage | null;
  /** The server's name for the model that answered. */
  answeredBy?: string;
} & (
  | {
      state: 'written' | 'cut_off';
      text: string;
      /** Empty if the server states no probabilities. */
      tokens?: readonly WrittenToken[];
    }
  | { state: 'refused' }
);

/** Sends one request to the server, without retries. Rejects like a `Provider`. */
export type Chat = (request: ChatRequest, call: CallLimits) => Promise<Completion>;
