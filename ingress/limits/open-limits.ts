import type { Pool } from 'pg';
import { createBatcher } from '../../shared/db/batcher.ts';
import { countPoints, type Points } from '../../shared/db/stores/rate-limits.ts';
import { BufferedLimiter, Limiter, type LimiterFactory } from './limiter.ts';

const STORE_TIMEOUT_MS = 1000;
/** Counts many calls in one statement. Otherwise the calls of a busy app would queue for the lock on its row. */
const BATCH = { maxItems: 200 };

/** Opens limiters that count in the table `rate_limits`. */
export function openLimits(pool: Pool): LimiterFactory {
  const count = createBatcher(
    (batch: Points[]) => countPoints(pool, batch, { withinMs: STORE_TIMEOUT_MS }),
    BATCH,
  );
  return {
    open: (limit) => new Limiter(limit, count),
    openBuffered: (limit) => new BufferedLimiter(limit, count),
  };
}
