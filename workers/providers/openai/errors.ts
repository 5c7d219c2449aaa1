import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import type { Dialect } from '../chat.ts';
import { DialectRefused } from '../dialects.ts';
import { ProviderError, type ProviderFault } from '../provider.ts';
import { BODY_TOO_LARGE, BrokenAnswer } from './bounded-fetch.ts';
import { retryAfterMs } from './retry-after.ts';

/** Every error class of the SDK, subclasses before their parents. Anything else counts as `failed`. */
const FAULTS: readonly [new (...args: never[]) => Error, ProviderFault][] = [
  [APIConnectionTimeoutError, 'timeout'],
  [APIConnectionError, 'failed'],
  [AuthenticationError, 'not_configured'],
  [PermissionDeniedError, 'not_configured'],
  [RateLimitError, 'rate_limited'],
  [BadRequestError, 'failed'],
  [NotFoundError, 'failed'],
  [ConflictError, 'failed'],
  [UnprocessableEntityError, 'failed'],
  [InternalServerError, 'failed'],
  [APIError, 'failed'],
];

/**
 * Maps whatever the SDK threw to a fault. Drops message and cause, which can quote a text or the key. `dialect` is how the
 * question was asked.
 */
export function providerError(error: unknown, dialect: Dialect): ProviderError {
  if (error instanceof ProviderError) return error;
  const refused = refusedOf(error, dialect);
  if (refused !== undefined) return new DialectRefused(refused, describe(error));
  const fault = FAULTS.find(([type]) => error instanceof type)?.[1] ?? 'failed';
  return new ProviderError(fault, describe(error), {
    retryAfterMs: error instanceof APIError ? retryAfterMs(error.headers) : undefined,
    outage: isOutage(error),
    charged: isUnreadable(error) ? null : undefined,
  });
}

/** A 200 that broke off, was too large or is no JSON (the SDK's parser throws a bare `SyntaxError`). */
function isUnreadable(error: unknown): boolean {
  if (error instanceof APIConnectionError) return error.cause instanceof BrokenAnswer;
  return error instanceof SyntaxError;
}

/** What the server complains about. There is no code for it, only words. */
function refusedOf(error: unknown, { format, limit }: Dialect): keyof Dialect | undefined {
  if (!(error instanceof BadRequestError || error instanceof UnprocessableEntityError)) return undefined;
  const words = `${error.param} ${error.message}`;
  if (format !== 'text' && /response_?format|json_?(schema|object)|schema/i.test(words)) return 'format';
  return words.includes(limit) ? 'limit' : undefined;
}

/** 5xx, 429, a time-out, or no connection: not what one request did wrong. */
function isOutage(error: unknown): boolean {
  if (error instanceof RateLimitError || error instanceof InternalServerError) return true;
  return error instanceof APIConnectionError && systemCode(error) !== BODY_TOO_LARGE;
}

/** "InternalServerError 500" or "APIConnectionError ECONNREFUSED": no text from the provider. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const status = error instanceof APIError ? error.status : undefined;
  return [error.constructor.name, status ?? systemCode(error)].filter((part) => part !== undefined).join(' ');
}

/** The code of the first system error in the chain of causes, such as ECONNRESET. */
function systemCode(error: Error): string | undefined {
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause instanceof Error ? systemCode(error.cause) : undefined;
}
