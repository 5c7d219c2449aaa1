import type { Pool } from 'pg';
import { MINUTE_CALLS_MAX, type MinuteOfCalls, readMinutes } from '../../shared/db/stores/board/last-hour.ts';

const MINUTE_MS = 60_000;
const MINUTES = 60;
const READ_EVERY_MS = 5000;

export type LastHourRow = Omit<MinuteOfCalls, 'p50' | 'p95'> & Record<'p50' | 'p95', number | null>;

/** Calls by minute. A minute that has ended is read once. */
export class LastHour {
  readonly #pool: Pool;
  readonly #kinds: readonly string[];
  #minutes = new Map<number, MinuteOfCalls>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool, kinds: readonly string[]) {
    this.#pool = pool;
    this.#kinds = kinds;
  }

  /** Returns the last 60 minutes, the present one last. `now` is in Unix milliseconds. */
  async read(now: number): Promise<LastHourRow[]> {
    const present = now - (now % MINUTE_MS);
    const first = present - (MINUTES - 1) * MINUTE_MS;
    if (now - this.#readAt >= READ_EVERY_MS) {
      // A call may be stored a little after it ended, so the minute before is read again.
      const since = Math.max(first, (Math.max(...this.#minutes.keys(), 0) || first) - MINUTE_MS);
      const read = await readMinutes(this.#pool, this.#kinds, since);
      // The first minute is cut off if there are more calls than are read.
      const calls = read.reduce((sum, one) => sum + one.calls, 0);
      for (const one of calls < MINUTE_CALLS_MAX ? read : read.slice(1)) this.#minutes.set(one.minute, one);
      for (const minute of this.#minutes.keys()) if (minute < first) this.#minutes.delete(minute);
      this.#readAt = now;
    }
    return Array.from({ length: MINUTES }, (_, n) => {
      const minute = first + n * MINUTE_MS;
      return this.#minutes.get(minute) ?? { ...NO_CALLS, minute };
    });
  }
}

const NO_CALLS = { calls: 0, failed: 0, p50: null, p95: null, waited: null };
