import type { TSchema } from 'typebox';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { Validator } from '../../shared/schemas/validator.ts';
import type { Kind } from '../../shared/work/kind.ts';

/**
 * A model's guess. `completion` is the text after the draft (`complete_draft`), or a whole message that starts with the
 * draft (`next_prompt`); it is empty if the model has no guess. The model's text is displayable
 * (`shared/domain/model-text.ts`). `confidence` is from 0 to 1.
 */
export interface Guess {
  completion: string;
  confidence: number;
  usage: Usage;
  /** The model that made the guess: the requested model or a fallback. */
  model: string;
}

/** Token counts of a call; 0 if the provider does not report them. */
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

/** A question whose answer must match a strict schema. */
export interface StructuredQuestion<Answer> {
  /** Name of the schema: `[a-z_]+`. */
  name: string;
  /** Messages in order. The messages that change most come last, for the provider's prefix cache. */
  messages: readonly ChatMessage[];
  /**
   * Schema within the limits of strict structured output: closed objects, all properties required, no bounds except on
   * lists.
   */
  schema: TSchema;
  /** Validator of the answer. It accepts longer lists than the schema allows. */
  check: Validator<Answer>;
  /** Maximum number of tokens of the answer, thoughts included. */
  maxTokens: number;
}

/**
 * An answer that matches the schema, with displayable texts only; or no answer, because the model or its content filter
 * refused.
 */
export type StructuredAnswer<Answer> =
  | { state: 'answered'; value: Answer; usage: Usage; model: string }
  | { state: 'refused'; usage: Usage; model: string };

/** The party and the attempt at its work to which the ledger books a call. */
export interface Charge {
  accountId: string | null;
  appId: string | null;
  workId: string;
  attempt: number;
  kind: string;
}

/** Minimum time left for a call. With less time, a call is pointless. */
export const SHORTEST_CALL_MS = 250;

/** The limits of one call. `signal` aborts the call and closes its socket; `timeoutMs` includes repairs. */
export interface CallLimits {
  model: string;
  signal: AbortSignal;
  timeoutMs: number;
  charge: Charge;
  /** Equal for calls whose prompts have the same beginning, so that they reach the same cache. Reveals no id. */
  cacheKey?: string;
}

/**
 * The interface to every language model. Both methods reject with a `ProviderError` if the provider fails, and with the
 * signal's reason if the signal aborts.
 */
export interface Provider {
  /**
   * Predicts the text after a draft. Asks each model once, except after a refused dialect or an answer that was cut
   * off. Repairs no unusable answer, because a person is typing.
   */
  predict(task: PredictionTask, call: CallLimits): Promise<Guess>;
  /**
   * Asks for an answer that matches a schema, and asks once more if the answer does not match. Null if the provider is
   * not a language model (`local`).
   */
  readonly ask:
    | (<Answer>(question: StructuredQuestion<Answer>, call: CallLimits) => Promise<StructuredAnswer<Answer>>)
    | null;
}

/** Reason of a failure. Only after a `timeout` can another attempt within the same deadline help. */
export type ProviderFault = 'timeout' | 'not_configured' | 'rate_limited' | 'failed';

/**
 * Maximum pause. A provider that asks for a longer pause is called again after this time, since quotas are raised and
 * headers can be wrong.
 */
export const LONGEST_PAUSE_MS = 600_000;

interface ProviderErrorDetails {
  /** Milliseconds after which the provider asked to retry. */
  retryAfterMs?: number | undefined;
  /** True if the provider has an outage, so that other requests will probably fail as well. */
  outage?: boolean;
  /** Tokens that the provider counted for an unusable answer; null if the count cannot be read. Else undefined. */
  charged?: Usage | null | undefined;
}

/** A provider's failure. `message` is for the log, and never contains a person's text or a key. */
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

/** Reports whether an error means that the provider has an outage. */
export function isOutage(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.outage;
}

const ERROR_CODES = {
  not_configured: 'provider_not_configured',
  rate_limited: 'provider_rate_limited',
  failed: 'provider_failed',
} as const;

/** Logs a provider's failure, and returns the end of the work, with the codes of its kind. Rethrows any other error. */
export function providerFailureEnd(error: unknown, { codes }: Pick<Kind, 'codes'>, log: Log): End<never> {
  if (!(error instanceof ProviderError)) throw error;
  const { fault, message, retryAfterMs } = error;
  log.warn({ fault, reason: message }, 'provider failed');
  const failure =
    fault === 'timeout'
      ? ({ code: codes.timeout, source: 'provider' } as const)
      : { code: ERROR_CODES[fault] };
  return { state: 'failed', ...failure, retryAfterMs };
}

/** Asks a model again after each timeout, while there is time. Any other fault fails at once. */
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
