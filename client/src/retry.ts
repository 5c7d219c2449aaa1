import { ForecueError } from './errors.ts';

/** The first pause lasts up to this; each further one up to twice as long. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Retries that all calls of a client may have saved up. */
const BUDGET = 20;
/** Share that an answered call adds to it: when everything fails, one call in five is retried. */
const EARNED = 0.2;

/** Refused before anything was done: safe to repeat, whatever the request. */
const REFUSED: readonly string[] = ['rate_limited', 'overloaded', 'request_timeout'];
/** No answer, or a passing one: safe to repeat where the server recognises the request. */
const PASSING: readonly string[] = [
  'network_error',
  'service_unavailable',
  'request_in_flight',
  'provider_rate_limited',
];
const GATEWAY: readonly number[] = [500, 502, 503, 504, 520, 521, 522, 523, 524];

/** Decides about retries: full jitter, `Retry-After`, and a budget that all calls of a client share. */
export class Retries {
  #left = BUDGET;

  /** An answered call earns a part of a retry. */
  earn(): void {
    this.#left = Math.min(BUDGET, this.#left + EARNED);
  }

  /** Milliseconds to wait before the retry after `attempt` (from 0); undefined where there is to be none. */
  pause(error: unknown, attempt: number, repeatable: boolean): number | undefined {
    if (!(error instanceof ForecueError) || !canHelp(error, repeatable) || this.#left < 1) return undefined;
    this.#left -= 1;
    return (error.retryAfter ?? 0) * 1000 + pauseOf(attempt);
  }
}

/** Milliseconds after the attempt (from 0): exponential, with full jitter. */
export function pauseOf(attempt: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
}

function canHelp({ code, status }: ForecueError, repeatable: boolean): boolean {
  if (REFUSED.includes(code)) return true;
  return (
    repeatable && (PASSING.includes(code) || (code === 'unexpected_response' && GATEWAY.includes(status)))
  );
}
