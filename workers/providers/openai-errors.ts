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
import { ProviderError, type ProviderFault } from './provider.ts';

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

/** Maps whatever the SDK threw to a fault. Drops message and cause, which can quote a text or the key. */
export function providerError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const fault = FAULTS.find(([type]) => error instanceof type)?.[1] ?? 'failed';
  return new ProviderError(fault, describe(error));
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
