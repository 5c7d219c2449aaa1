import type { Call, ChatMessage, Usage } from './provider.ts';

/** How strictly a server can be told the shape of an answer, the strictest first. */
export const FORMATS = ['json_schema', 'json_object', 'text'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * The parameters that limit the tokens of an answer. `max_tokens` first: OpenAI's reasoning models refuse it by name, but other
 * servers ignore `max_completion_tokens` without a word, and then nothing is limited.
 */
export const LIMITS = ['max_tokens', 'max_completion_tokens'] as const;
export type Limit = (typeof LIMITS)[number];

/** What a model is asked. */
export interface Question {
  name: string;
  messages: readonly ChatMessage[];
  schema: object;
  /** Tokens that its answer may have, thoughts included. */
  maxTokens: number;
}

/** How a server is asked: what the model's server takes differs. */
export interface Dialect {
  format: Format;
  limit: Limit;
}

/** One request to a server. */
export interface ChatRequest extends Question, Dialect {}

/** What a model wrote. `cut_off`: the answer reached the limit of output tokens. */
export type Completion = { usage: Usage } & (
  | { state: 'written'; text: string }
  | { state: 'refused' }
  | { state: 'cut_off' }
);

/** Sends one request upstream, without retries. Rejects like a `Provider`. */
export type Chat = (request: ChatRequest, call: Call) => Promise<Completion>;
