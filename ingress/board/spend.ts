import type { Pool } from 'pg';
import { LEDGER_PAGE_CALLS, type LedgerHour, readLedger } from '../../shared/db/stores/board/lately.ts';
import { lowestIdAt } from '../../shared/ids.ts';

const HOUR_MS = 60 * 60 * 1000;
const HOURS_SHOWN = 24;
/** Calls older than this are read once and never again. A call whose row is written later than this is missed. */
const STORED_AFTER_MS = 15_000;
/** Time without a read after which reading starts over. */
const STALE_MS = 30_000;

export type HourlySpending = Omit<LedgerHour, 'first' | 'last'>;

/**
 * The cost of provider calls in the hours that began within the last 24, by hour and model. The ledger has no index by
 * hour, so rows older than `STORED_AFTER_MS` are read only once, and kept as sums. Each read adds the rows that have
 * reached this age, and one page of earlier rows, newest first.
 */
export class DailySpending {
  readonly #pool: Pool;
  #storedSums = new Map<string, HourlySpending>();
  /** `#storedSums` contains all calls with ids between these two. */
  #storedFrom = '';
  #storedTo = '';
  #readAt = Number.NEGATIVE_INFINITY;
  #isWhole = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** `isWhole` is false while earlier hours are still to be read. */
  async read(now: number): Promise<{ hours: HourlySpending[]; isWhole: boolean }> {
    const cut = lowestIdAt(now - STORED_AFTER_MS);
    if (now - this.#readAt > STALE_MS) this.#restart(cut);
    this.#readAt = now;
    const newRows = await readLedger(this.#pool, this.#storedTo, cut, 'asc');
    this.#add(this.#storedSums, newRows);
    this.#storedTo = isFull(newRows)
      ? (newRows
          .map(({ last }) => last)
          .sort()
          .at(-1) ?? cut)
      : cut;
    await this.#readBack(now);
    const recentRows = await readLedger(this.#pool, this.#storedTo, lowestIdAt(now + HOUR_MS), 'desc');
    const all = new Map([...this.#storedSums].map(([key, one]) => [key, { ...one }]));
    this.#add(all, recentRows);
    const since = now - HOURS_SHOWN * HOUR_MS;
    for (const [key, { hour }] of this.#storedSums) if (hour <= since) this.#storedSums.delete(key);
    return { hours: [...all.values()].filter(({ hour }) => hour > since), isWhole: this.#isWhole };
  }

  #restart(cut: string): void {
    this.#storedSums = new Map();
    this.#storedFrom = cut;
    this.#storedTo = cut;
    this.#isWhole = false;
  }

  async #readBack(now: number): Promise<void> {
    if (this.#isWhole) return;
    const rows = await readLedger(
      this.#pool,
      lowestIdAt(now - HOURS_SHOWN * HOUR_MS),
      this.#storedFrom,
      'desc',
    );
    this.#add(this.#storedSums, rows);
    this.#isWhole = !isFull(rows);
    for (const { first } of rows) if (first < this.#storedFrom) this.#storedFrom = first;
  }

  #add(sums: Map<string, HourlySpending>, rows: readonly LedgerHour[]): void {
    for (const { first: _, last: __, ...row } of rows) {
      const key = `${row.hour} ${row.model}`;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, row);
      else
        for (const column of ['calls', 'inputTokens', 'outputTokens', 'costMicrocents', 'unpriced'] as const)
          sum[column] += row[column];
    }
  }
}

function isFull(rows: readonly LedgerHour[]): boolean {
  return rows.reduce((sum, { calls }) => sum + calls, 0) >= LEDGER_PAGE_CALLS;
}
