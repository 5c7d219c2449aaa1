import type { Pool } from 'pg';
import { readRounds } from '../db/stores/rounds.ts';
import { listSchedules } from '../db/stores/schedules.ts';
import { SCHEDULES } from './schedules.ts';

/** Recurring work as operators see it. Times are Unix milliseconds. */
export interface RecurringWork {
  name: string;
  /** Cron pattern, interval in seconds, or `off`. */
  every: string;
  last: number | null;
  next: number | null;
}

/** Lists the schedules and the housekeeping steps. A housekeeping step has no planned next time. */
export async function listRecurring(pool: Pool): Promise<RecurringWork[]> {
  const [storedSchedules, rounds] = await Promise.all([listSchedules(pool), readRounds(pool)]);
  const schedules = Object.keys(SCHEDULES).map((name) => {
    const { pattern, lastTick, nextTick } = storedSchedules.find((one) => one.name === name) ?? {};
    return { name, every: pattern ?? 'off', last: lastTick ?? null, next: nextTick ?? null };
  });
  const maintenance = rounds.map(({ step, everyMs, endedMs }) => ({
    name: `housekeeping: ${step}`,
    every: `${everyMs / 1000} s`,
    last: endedMs,
    next: null,
  }));
  return [...schedules, ...maintenance];
}
