import { type RetryOptions, retry } from '../timing/retry.ts';
import { isSerializationConflict, isTransient } from './faults.ts';

const CONFLICT_TRIES = 4;

/** Repeats what lost a race against another transaction. */
export const ON_CONFLICT = {
  firstMs: 15,
  longestMs: 60,
  when: (error: unknown, tries: number) => tries < CONFLICT_TRIES && isSerializationConflict(error),
} satisfies RetryOptions;

/**
 * Retries with backoff while the database is unreachable or other transactions are in the way, until the moment `until`
 * of `performance.now()`. Only for what is safe to repeat.
 */
export function persistently<T>(work: () => Promise<T>, until: number): Promise<T> {
  return retry(work, { firstMs: 25, longestMs: 400, when: isTransient, until });
}
