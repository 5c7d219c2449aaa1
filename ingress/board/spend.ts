import type { Pool } from 'pg';
import { type HourlySpending, LEDGER_CALLS_MAX, readLedger } from '../../shared/db/stores/board/lately.ts';

const HOUR_MS = 60 * 60 * 1000;
const HOURS_SHOWN = 24;
/** So many calls take a tenth of a second to sum up. */
const READ_EVERY_MS = 5000;

export const SUMMED_COLUMNS = [
  'calls',
  'failed',
  'inputTokens',
  'outputTokens',
  'costMicrocents',
  'unpriced',
] as const;

interface Spending {
  hours: HourlySpending[];
  /** False if there were more calls than are read, so that the earliest hours lack some or are left out. */
  isWhole: boolean;
}

/** The cost of provider calls in the hours that began within the last 24, by hour and model. */
export class DailySpending {
  readonly #pool: Pool;
  #latest: Spending | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async read(now: number): Promise<Spending> {
    if (this.#latest !== undefined && now - this.#readAt < READ_EVERY_MS) return this.#latest;
    const rows = await readLedger(this.#pool, now - HOURS_SHOWN * HOUR_MS);
    const calls = rows.reduce((sum, one) => sum + one.calls, 0);
    const hours = rows.filter(({ hour }) => hour > now - HOURS_SHOWN * HOUR_MS);
    this.#latest = { hours, isWhole: calls < LEDGER_CALLS_MAX };
    this.#readAt = now;
    return this.#latest;
  }
}
