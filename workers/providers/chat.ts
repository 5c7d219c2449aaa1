import type { CallLimits, StructuredQuestion, Usage } from './provider.ts';

/** Ways to tell a server the shape of an answer, the strictest first. */
export const ANSWER_FORMATS = ['json_schema', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof ANSWER_FORMATS)[number];

/**
 * Parameters that limit the tokens of an answer. `max_tokens` comes first: OpenAI's reasoning models refuse it by name,
 * whereas other servers silently ignore `max_completion_tokens`, and then nothing is limited.
 */
export const LIMIT_PARAMETERS = ['max_tokens', 'max_completion_tokens'] as const;
export type LimitParameter = (typeof LIMIT_PARAMETERS)[number];

/**
 * Parameters that help but that not every server or model takes: how long the model thinks, and which cache it uses.
 */
export const OPTIONAL_PARAMETERS = ['reasoning_effort', 'prompt_cache_key'] as const;
export type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number];

/** A question to a model. */
export interface Question extends Omit<StructuredQuestion<unknown>, 'check'> {
  /**
   * If set, the model is asked to think little; one that thinks nevertheless gets this many tokens besides `maxTokens`.
   */
  thoughtTokens?: number;
}

/** Dialect of a server: servers differ in the parameters that they take. */
export interface Dialect {
  format: AnswerFormat;
  limit: LimitParameter;
  /** OptionalParameter parameters that the server takes. */
  extras: readonly OptionalParameter[];
  /** True if the answer needs room for thoughts. */
  thinks: boolean;
}

/** One request to a server. */
export interface ChatRequest extends Question, Dialect {}

/** A model's answer. `cut_off` means that it reached the limit of output tokens. */
export type Completion = {
  usage: Usage;
  /** The server's own name for the model that answered. */
  answeredBy?: string;
} & ({ state: 'written'; text: string } | { state: 'refused' } | { state: 'cut_off' });

/** Sends one request to the server, without retries. Rejects like a `Provider`. */
export type Chat = (request: ChatRequest, call: CallLimits) => Promise<Completion>;
