import type { Call, ChatMessage, Usage } from './provider.ts';

/** How strictly a server can be told the shape of an answer, the strictest first. */
export const FORMATS = ['json_schema', 'json_object', 'text'] as const;
export type Format = (typeof FORMATS)[number];

/** What a model is asked. */
export interface Question {
  name: string;
  messages: readonly ChatMessage[];
  schema: object;
}

/** One request to a server. */
export interface ChatRequest extends Question {
  format: Format;
}

/** What a model wrote. `cut_off`: the answer reached the limit of output tokens. */
export type Completion = { usage: Usage } & (
  | { state: 'written'; text: string }
  | { state: 'refused' }
  | { state: 'cut_off' }
);

/** Sends one request upstream, without retries. Rejects like a `Provider`. */
export type Chat = (request: ChatRequest, call: Call) => Promise<Completion>;
