import type { TSchema } from 'typebox';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { Validator } from '../../shared/schemas/validator.ts';
import type { Kind } from '../../shared/work/kind.ts';

/**
 * A model's guess. `completion` is appended to the draft (`complete_draft`) or is a whole message that starts with the
 * draft (`next_prompt`); empty means that the model has no guess. The part of it that the model wrote is displayable
 * (`shared/domain/model-text.ts`). `confidence` is from 0 to 1.
 */
export interface Guess {
  completion: string;
  confidence: number;
  usage: Usage;
  /** The model that gave it: the one asked for, or a fallback. */
  model: string;
}

/** Tokens of a call; 0 if the provider does not report them. */
export interface Usage {
  inputTokens: number;
  /** Input tokens that the provider had in its cache. */
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
  /** Name of the schema: `[a-z_]+`. */
  name: string;
  /** Messages in order, the most varying last, for the provider's prefix cache. */
  messages: readonly ChatMessage[];
  /**
   * Schema within the limits of strict structured output: closed objects, all properties required, no bounds except on
   * lists.
   */
  schema: TSchema;
  /** Check of the answer. It accepts longer lists than the schema allows. */
  check: Validator<Answer>;
  /** Maximum number of tokens of the answer, thoughts included. */
  maxTokens: number;
}

/**
 * An answer in the requested shape, all of its texts displayable; or none, because the model or its content filter
 * refused.
 */
export type StructuredAnswer<Answer> =
  | { state: 'answered'; value: Answer; usage: Usage; model: string }
  | { state: 'refused'; usage: Usage; model: string };

/** The party on whose account the ledger books a call, and the attempt at the work. */
export interface Charge {
  accountId: string | null;
  appId: string | null;
  workId: string;
  attempt: number;
  kind: string;
}

/** Minimum time for a call. With less time left a call is pointless. */
export const SHORTEST_CALL_MS = 250;

/** The limits of one call. `signal` aborts it and closes its socket; `timeoutMs` bounds it, repairs included. */
export interface CallLimits {
  model: string;
  signal: AbortSignal;
  timeoutMs: number;
  charge: Charge;
  /** Equal for calls whose prompts begin alike, so that they reach the same cache. Opaque to the provider. */
  cacheKey?: string;
}

/**
 * The interface to every language model. Both methods reject with a `ProviderError` for any fault of the provider, and
 * with the signal's reason when aborted.
 */
export interface Provider {
  /**
   * Asks each model tried once, besides refused dialects and one answer that was cut off. Repairs no unusable answer,
   * because a person is typing.
   */
  predict(task: PredictionTask, call: CallLimits): Promise<Guess>;
  /**
   * Asks for an answer in the shape of a schema, and once more if the answer has another. Null for a provider that is
   * no language model (`local`): its callers do without one.
   */
  readonly ask:
    | (<Answer>(question: StructuredQuestion<Answer>, call: CallLimits) => Promise<StructuredAnswer<Answer>>)
    | null;
}

/** Fault of a failed attempt. Only after a `timeout` can another attempt within the same deadline help. */
export type ProviderFault = 'timeout' | 'not_configured' | 'rate_limited' | 'failed';

/**
 * Maximum pause. A provider that asks to be left alone for longer is asked again after this time: quotas are raised,
 * and headers can be wrong.
 */
export const LONGEST_PAUSE_MS = 600_000;

interface ProviderErrorDetails {
  /** Milliseconds for which the provider asked to be left alone. */
  retryAfterMs?: number | undefined;
  /** True if the provider itself is in trouble, so that other requests are likely to fail too. */
  outage?: boolean;
  /** Tokens that the provider counted for an answer that cannot be used; null if the count cannot be read. */
  charged?: Usage | null | undefined;
}

/** A provider's failure. `message` is for the log: it has the fault and a status, never a person's text or a key. */
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

/** Reports whether an error means that the provider itself is in trouble. */
export function isOutage(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.outage;
}

const CODES = {
  not_configured: 'provider_not_configured',
  rate_limited: 'provider_rate_limited',
  failed: 'provider_failed',
} as const;

/** Logs a provider's failure, and returns how work of a kind then ends. Throws any other error again. */
export function providerFailureEnd(error: unknown, { codes }: Pick<Kind, 'codes'>, log: Log): End<never> {
  if (!(error instanceof ProviderError)) throw error;
  const { fault, message, retryAfterMs } = error;
  log.warn({ fault, reason: message }, 'provider failed');
  const how =
    fault === 'timeout' ? ({ code: codes.timeout, source: 'provider' } as const) : { code: CODES[fault] };
  return { state: 'failed', ...how, retryAfterMs };
}

/** Asks a model again after a timeout while there is time; any other fault fails at once. */
export async function retryAfterTimeouts<T>(leftMs: () => number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isLate = error instanceof ProviderError && error.fault === 'timeout';
      if (!isLate || leftMs() <= SHORTEST_CALL_MS) throw error;
    }
  }
}
