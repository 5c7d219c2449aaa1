import type { TSchema } from 'typebox';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { Validator } from '../../shared/schemas/validator.ts';
import type { Kind } from '../../shared/work/kind.ts';

/**
 * `completion` is the text after the draft (`complete_draft`), or a whole message that starts with the draft
 * (`next_prompt`); it is empty if the model has no guess. `confidence` is from 0 to 1.
 */
export interface Guess {
  completion: string;
  confidence: number;
  /** Other completions, the likeliest first. */
  alternatives?: readonly string[];
  /** Confidence that the completion or one of the alternatives is right. */
  together?: number;
  usage: Usage;
  /** The requested model or a fallback. */
  model: string;
}

/** Token counts of a call; 0 if the provider does not report them. */
export interface Usage {
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface StructuredQuestion<Answer> {
  /** Name of the schema: `[a-z_]+`. */
  name: string;
  /** The messages that change most come last, for the provider's prefix cache. */
  messages: readonly ChatMessage[];
  /**
   * Schema within the limits of strict structured output: closed objects, all properties required, no bounds except on
   * lists.
   */
  schema: TSchema;
  /** Validates an answer by the schema, but accepts longer lists. */
  check: Validator<Answer>;
  /** Maximum number of tokens of the answer, thoughts included. */
  maxTokens: number;
}

/** `value` matches the schema, and all its texts are displayable. */
export type StructuredAnswer<Answer> =
  | { state: 'answered'; value: Answer; usage: Usage; model: string }
  | { state: 'refused'; usage: Usage; model: string };

/** Names the account or app, and the attempt, for which the ledger records a call. */
export interface Charge {
  accountId: string | null;
  appId: string | null;
  workId: string;
  attempt: number;
  kind: string;
}

export function chargeOfAccount({
  party: accountId,
  id: workId,
  attempt,
  kind,
}: Pick<Claim, 'party' | 'id' | 'attempt' | 'kind'>): Charge {
  return { accountId, appId: null, workId, attempt, kind };
}

/** Minimum remaining time for starting another call. */
export const SHORTEST_CALL_MS = 250;

/**
 * The limits of one call. An abort of `signal` closes the call's socket. `timeoutMs` includes the time to ask again
 * after an unusable answer.
 */
export interface CallLimits {
  model: string;
  signal: AbortSignal;
  timeoutMs: number;
  charge: Charge;
  /** Lets the provider serve calls whose prompts begin alike from the same cache. Reveals no id. */
  cacheKey?: string;
}

/**
 * The interface to every language model. Both methods reject with a `ProviderError` if the provider fails, and with the
 * signal's reason if the signal aborts.
 */
export interface Provider {
  /**
   * Does not ask again after a malformed answer, because a person is typing. Asks the same model again only after a
   * refused dialect or a cut-off answer.
   */
  predict(task: PredictionTask, call: CallLimits): Promise<Guess>;
  /** Asks once more if the answer does not match the schema. Null if the provider is no language model (`local`). */
  readonly ask:
    | (<Answer>(question: StructuredQuestion<Answer>, call: CallLimits) => Promise<StructuredAnswer<Answer>>)
    | null;
}

/** Reason of a failure. Within the same deadline, only a `timeout` is worth a retry. */
export type ProviderFault = 'timeout' | 'not_configured' | 'rate_limited' | 'failed';

/**
 * Maximum pause. A provider that asks for a longer pause is called again after this time: its quota may have been
 * raised, or its header may be wrong.
 */
export const LONGEST_PAUSE_MS = 600_000;

interface ProviderErrorDetails {
  retryAfterMs?: number | undefined;
  /** True if other requests will probably fail as well. */
  outage?: boolean;
  /**
   * Tokens that the provider counted for an unusable answer; null if the count cannot be read. Undefined for other
   * failures.
   */
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

export function isOutage(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.outage;
}

const ERROR_CODES = {
  not_configured: 'provider_not_configured',
  rate_limited: 'provider_rate_limited',
  failed: 'provider_failed',
} as const;

/** Logs a provider's failure, and returns it as the result of the work. Rethrows any other error. */
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

/** Gives each attempt at most `maxMs`. Retries timeouts only, as long as there is time. */
export async function retryAfterTimeouts<T>(
  leftMs: () => number,
  maxMs: number,
  attempt: (timeoutMs: number) => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt(Math.min(maxMs, leftMs()));
    } catch (error) {
      const isLate = error instanceof ProviderError && error.fault === 'timeout';
      if (!isLate || leftMs() <= SHORTEST_CALL_MS) throw error;
    }
  }
}
