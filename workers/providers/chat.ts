import type { Call, ChatMessage, Usage } from './provider.ts';

/** Ways to tell a server the shape of an answer, the strictest first. */
export const FORMATS = ['json_schema', 'json_object', 'text'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * The parameters that limit the tokens of an answer. `max_tokens` first: OpenAI's reasoning models refuse it by name, but other
 * servers ignore `max_completion_tokens` without a word, and then nothing is limited.
 */
export const LIMITS = ['max_tokens', 'max_completion_tokens'] as const;
export type Limit = (typeof LIMITS)[number];

/** Parameters that help, and that not every server or model takes: how long it thinks, and where its cache is. */
export const EXTRAS = ['reasoning_effort', 'prompt_cache_key'] as const;
export type Extra = (typeof EXTRAS)[number];

/** Question to a model. */
export interface Question {
  name: string;
  messages: readonly ChatMessage[];
  schema: object;
  /** Tokens that its answer may have, thoughts included. */
  maxTokens: number;
  /** Asks for few thoughts, which then have this many tokens beside `maxTokens`, where a model thinks nevertheless. */
  thoughtTokens?: number;
}

/** Dialect of a server: what servers take differs. */
export interface Dialect {
  format: Format;
  limit: Limit;
  /** Parameters that are sent where the server takes them. */
  extras: readonly Extra[];
  /** Leaves room for thoughts. */
  thinks: boolean;
}

/** One request to a server. */
export interface ChatRequest extends Question, Dialect {}

/** Answer of a model. `cut_off`: the answer reached the limit of output tokens. */
export type Completion = {
  usage: Usage;
  /** The model, by the server's own name for it. */
  answeredBy?: string;
} & ({ state: 'written'; text: string } | { state: 'refused' } | { state: 'cut_off' });

/** Sends one request upstream, without retries. Rejects like a `Provider`. */
export type Chat = (request: ChatRequest, call: Call) => Promise<Completion>;
