import { setTimeout as sleep } from 'node:timers/promises';
import { isLockTimeout, isUnavailable } from './faults.ts';

const FIRST_BACKOFF_MS = 25;
const LONGEST_BACKOFF_MS = 400;

/**
 * Tries again, with backoff, while the database is unreachable or somebody holds a lock, until the moment `until` of
 * `performance.now()`. Only for what is safe to repeat.
 */
export async function persistently<T>(work: () => Promise<T>, until: number): Promise<T> {
  for (let delay = FIRST_BACKOFF_MS; ; delay = Math.min(2 * delay, LONGEST_BACKOFF_MS)) {
    try {
      return await work();
    } catch (error) {
      const again = isUnavailable(error) || isLockTimeout(error);
      if (!again || performance.now() + delay > until) throw error;
      await sleep(delay * (0.5 + Math.random() / 2));
    }
  }
}
