import type { TSchema } from 'typebox';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Validator } from '../../shared/schemas/validator.ts';
import type { Kind } from '../../shared/work/kind.ts';

/**
 * A model's guess. `completion` is appended to the draft (`complete_draft`) or is a whole message that starts with the
 * draft (`next_prompt`); empty means that the model has no guess. What the model wrote of it is displayable
 * (`shared/domain/model-text.ts`). `confidence` is 0 to 1.
 */
export interface Guess {
  completion: string;
  confidence: number;
  usage: Usage;
  /** The model that gave it: the one asked for, or a fallback. */
  model: string;
}

/** 0 if the provider does not report it. */
export interface Usage {
  inputTokens: number;
  /** Tokens of the input that the provider had in its cache. */
  cachedTokens: number;
  outputTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** A question whose answer must have the shape of a strict schema. */
export interface StructuredQuestion<Answer> {
  /** Names the schema: `[a-z_]+`. */
  name: string;
  /** Parts in order, the most varying last, for the provider's prefix cache. */
  messages: readonly ChatMessage[];
  /** Within the limits of strict structured output: closed objects, all required, no bounds but those of lists. */
  schema: TSchema;
  /** Schema of the answer. A list may be longer than the schema allows. */
  check: Validator<Answer>;
  /** Tokens that its answer may have, thoughts included. */
  maxTokens: number;
}

/** An answer in the asked shape, all of its texts displayable; or none, because the model or its content filter refused. */
export type StructuredAnswer<Answer> =
  | { state: 'answered'; value: Answer; usage: Usage; model: string }
  | { state: 'refused'; usage: Usage; model: string };

/** Party on which the ledger books a call, and the attempt at the work. */
export interface Charge {
  accountId: string | null;
  appId: string | null;
  workId: string;
  attempt: number;
  kind: string;
}

/** With less time left a call is pointless. */
export const SHORTEST_CALL_MS = 250;

/** The limits of one call. `signal` aborts it and closes its socket; `timeoutMs` bounds it, repairs included. */
export interface Call {
  model: string;
  signal: AbortSignal;
  timeoutMs: number;
  charge: Charge;
  /** The same for calls whose prompts begin alike: sends them to the same cache. Opaque to the provider. */
  cacheKey?: string;
}

/**
 * The interface to every language model. Both methods reject with a `ProviderError` for any fault of the provider, and
 * with the signal's reason when aborted.
 */
export interface Provider {
  /** One request upstream for each model that is tried: an unusable answer is not repaired, because a person is typing. */
  predict(task: PredictionTask, call: Call): Promise<Guess>;
  /**
   * Asks for an answer in the shape of a schema, and once more when it has another. Null: this provider is no language
   * model (`local`), and callers do without one.
   */
  readonly ask:
    | (<Answer>(question: StructuredQuestion<Answer>, call: Call) => Promise<StructuredAnswer<Answer>>)
    | null;
}

/** Why an attempt failed. Only after a `timeout` can another attempt within the same deadline help. */
export type ProviderFault = 'timeout' | 'not_configured' | 'rate_limited' | 'failed';

/** A provider that asks to be left alone for longer is asked again after this time: quotas are raised, and headers can be wrong. */
export const LONGEST_PAUSE_MS = 600_000;

interface ProviderErrorDetails {
  /** Time for which the provider asked to be left alone. */
  retryAfterMs?: number | undefined;
  /** True if the provider itself is in trouble, so that other requests are likely to fail too. */
  outage?: boolean;
  /** Tokens that the provider counted for an answer that cannot be used; null when that cannot be read. */
  charged?: Usage | null | undefined;
}

/** `message` is for the log: it has the fault and a status, never a person's text or a key. */
export class ProviderError extends Error {
  readonly fault: ProviderFault;
  readonly retryAfterMs: number | undefined;
  readonly outage: boolean;
  readonly charged: Usage | null | undefined;

  constructor(
    fault: ProviderFault,
    message: string,
    { retryAfterMs, outage = false, charged }: ProviderErrorDetails = {},
  ) {
    super(message);
    this.name = 'ProviderError';
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
    this.outage = outage;
    this.charged = charged;
  }
}

/** True if the provider itself is in trouble. */
export function isOutage(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.outage;
}

const CODES = {
  not_configured: 'provider_not_configured',
  rate_limited: 'provider_rate_limited',
  failed: 'provider_failed',
} as const;

/** Ending of work of a kind when its provider fails. */
export function failureOf(
  { fault, retryAfterMs }: ProviderError,
  { codes }: Pick<Kind, 'codes'>,
): End<never> {
  const how =
    fault === 'timeout' ? ({ code: codes.timeout, source: 'provider' } as const) : { code: CODES[fault] };
  return { state: 'failed', ...how, retryAfterMs };
}

/** Asks a model again after a timeout while there is time; any other fault fails at once. */
export async function inAttempts<T>(leftMs: () => number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isLate = error instanceof ProviderError && error.fault === 'timeout';
      if (!isLate || leftMs() <= SHORTEST_CALL_MS) throw error;
    }
  }
}
