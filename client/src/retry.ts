import { ForecueError } from './errors.ts';

/** Upper limit of the first random pause. The limit doubles with each retry, up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Maximum number of retries in the budget, which all calls of a `Transport` share. */
const RETRY_BUDGET = 20;
/** Share of a retry that a successful call adds to the budget: five successes pay for one retry. */
const EARNED_PER_SUCCESS = 0.2;

/** Codes of requests that were refused before anything was done: always safe to repeat. */
const REFUSED_CODES: readonly string[] = ['rate_limited', 'overloaded', 'request_timeout'];
/** Codes of transient failures: safe to repeat if the server recognises a repeated request. */
const TRANSIENT_CODES: readonly string[] = [
  'network_error',
  'service_unavailable',
  'request_in_flight',
  'provider_rate_limited',
];
const GATEWAY_STATUSES: readonly number[] = [500, 502, 503, 504, 520, 521, 522, 523, 524];

/** Backs off exponentially with full jitter, within a budget that all calls of a `Transport` share. */
export class Retries {
  #retriesLeft = RETRY_BUDGET;

  earn(): void {
    this.#retriesLeft = Math.min(RETRY_BUDGET, this.#retriesLeft + EARNED_PER_SUCCESS);
  }

  /** Takes a retry from the budget, and returns the pause before it in milliseconds; undefined if none is allowed. */
  takePause(error: unknown, attempt: number, repeatable: boolean, leftMs: number): number | undefined {
    if (!(error instanceof ForecueError) || !isRetryable(error, repeatable) || this.#retriesLeft < 1)
      return undefined;
    const pause = (error.retryAfter ?? 0) * 1000 + pauseOf(attempt);
    if (pause >= leftMs) return undefined;
    this.#retriesLeft -= 1;
    return pause;
  }
}

/** Returns a random pause in milliseconds: exponential backoff with full jitter. `attempt` counts from 0. */
export function pauseOf(attempt: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
}

function isRetryable({ code, status }: ForecueError, repeatable: boolean): boolean {
  if (REFUSED_CODES.includes(code)) return true;
  return (
    repeatable &&
    (TRANSIENT_CODES.includes(code) || (code === 'unexpected_response' && GATEWAY_STATUSES.includes(status)))
  );
}
