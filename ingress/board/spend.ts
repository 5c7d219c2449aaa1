import type { Pool } from 'pg';
import { LEDGER_PAGE, type LedgerHour, readLedger } from '../../shared/db/stores/board/lately.ts';
import { lowestIdAt } from '../../shared/ids.ts';

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;
/**
 * Age of a call, according to its id, from which the call counts as stored. A call that is stored even later is missed:
 * for example, when its worker could not reach the database for longer, or has a clock that is behind by more.
 */
const SETTLED_MS = 15_000;
/** Time without a read after which reading starts over, with the newest calls. */
const STALE_MS = 30_000;

/** Sums over the calls of one model in one hour. */
export type HourlySpending = Omit<LedgerHour, 'first' | 'last'>;

/**
 * The provider's cost in the hours that began within the last 24, by hour and model. The ledger has no index by hour
 * and may have millions of rows in a day, so a row older than `SETTLED_MS` is read only once: new rows when they reach
 * that age, and earlier ones backwards, a page per refresh, until a day is known. Only younger rows are read at every
 * refresh.
 */
export class DailySpending {
  readonly #pool: Pool;
  #settled = new Map<string, HourlySpending>();
  /** Ids between which all calls are in `#settled`. */
  #from = '';
  #to = '';
  #readAt = Number.NEGATIVE_INFINITY;
  #isWhole = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Reads on, and returns all that is known. `isWhole` is false while earlier hours are still to be read. */
  async read(now: number): Promise<{ hours: HourlySpending[]; isWhole: boolean }> {
    const cut = lowestIdAt(now - SETTLED_MS);
    if (now - this.#readAt > STALE_MS) this.#restart(cut);
    this.#readAt = now;
    const newRows = await readLedger(this.#pool, this.#to, cut, 'asc');
    this.#add(this.#settled, newRows);
    this.#to = isFull(newRows)
      ? (newRows
          .map(({ last }) => last)
          .sort()
          .at(-1) ?? cut)
      : cut;
    await this.#readBack(now);
    const recentRows = await readLedger(this.#pool, this.#to, lowestIdAt(now + HOUR_MS), 'desc');
    const all = new Map([...this.#settled].map(([key, one]) => [key, { ...one }]));
    this.#add(all, recentRows);
    const since = now - HOURS * HOUR_MS;
    for (const [key, { hour }] of this.#settled) if (hour <= since) this.#settled.delete(key);
    return { hours: [...all.values()].filter(({ hour }) => hour > since), isWhole: this.#isWhole };
  }

  #restart(cut: string): void {
    this.#settled = new Map();
    this.#from = cut;
    this.#to = cut;
    this.#isWhole = false;
  }

  async #readBack(now: number): Promise<void> {
    if (this.#isWhole) return;
    const rows = await readLedger(this.#pool, lowestIdAt(now - HOURS * HOUR_MS), this.#from, 'desc');
    this.#add(this.#settled, rows);
    this.#isWhole = !isFull(rows);
    for (const { first } of rows) if (first < this.#from) this.#from = first;
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
  return rows.reduce((sum, { calls }) => sum + calls, 0) >= LEDGER_PAGE;
}
