import { type RetryOptions, retry } from '../timing/retry.ts';
import { isSerializationConflict, isTransient } from './faults.ts';

const CONFLICT_TRIES = 4;

export const RETRY_ON_CONFLICT = {
  firstMs: 15,
  longestMs: 60,
  when: (error: unknown, tries: number) => tries < CONFLICT_TRIES && isSerializationConflict(error),
} satisfies RetryOptions;

/**
 * Retries with backoff while the database is unreachable or other transactions hold locks, until `performance.now()`
 * reaches `until`. Only for work that is safe to repeat.
 */
export function retryUntil<T>(work: () => Promise<T>, until: number): Promise<T> {
  return retry(work, { firstMs: 25, longestMs: 400, when: isTransient, until });
}
