import type { Pool } from 'pg';
import { type IRateLimiterStoreOptions, RateLimiterPostgres } from 'rate-limiter-flexible';
import { batcher } from '../../shared/db/batcher.ts';
import { countPoints, type Points } from '../../shared/db/stores/rate-limits.ts';

const MOST_TOGETHER = 200;

/**
 * Makes what all limiters on PostgreSQL count with. Requests that arrive together are counted in one statement: those
 * of a busy app would else queue for its row, each with a connection. And where the database is frozen, it is one
 * connection that waits for it.
 */
export function pointsCounter(pool: Pool, options: { withinMs: number }) {
  return batcher((batch: Points[]) => countPoints(pool, batch, options), { most: MOST_TOGETHER });
}

/** The library's limiter, with a statement of our own for the one thing that every request does. */
export class PostgresLimiter extends RateLimiterPostgres {
  readonly #count: ReturnType<typeof pointsCounter>;

  constructor(
    options: Omit<IRateLimiterStoreOptions, 'storeClient'>,
    pool: Pool,
    count: ReturnType<typeof pointsCounter>,
  ) {
    super({ ...options, storeClient: pool, storeType: 'pool', tableName: 'rate_limits', tableCreated: true });
    this.#count = count;
  }

  /** Where the library takes points and gives them back. It reads the answer by this machine's clock. */
  async _upsert(key: string, points: number, windowMs: number) {
    const { points: used, leftMs } = await this.#count({ key, points, windowMs });
    return { rows: [{ points: used, expire: Date.now() + leftMs }] };
  }
}
