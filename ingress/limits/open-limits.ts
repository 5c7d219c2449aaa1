import type { Pool } from 'pg';
import { CircuitBreaker } from '../../shared/circuit-breaker.ts';
import type { BaseConfig } from '../../shared/config/config.ts';
import { batcher } from '../../shared/db/batcher.ts';
import { countPoints, type Points } from '../../shared/db/stores/rate-limits.ts';
import type { Log } from '../../shared/log.ts';
import { connectRedis } from '../../shared/queue/redis.ts';
import { ExactLimiter } from './exact-limiter.ts';
import { LeaseLimiter } from './lease-limiter.ts';
import type { CountPoints, Limits } from './limiter.ts';
import { MemoryCounts } from './memory-counts.ts';
import { countInRedis } from './redis-counts.ts';

const BREAKER_OPEN_MS = 1000;
/** Waiting for the store any longer would cost a caller more than the limit is worth. */
const STORE_TIMEOUT_MS = 250;
/** Points that arrive together share a statement: those of a busy app would otherwise queue for its row. */
const BATCH = { most: 200 };

/** Opens limiters on Redis if configured, else on the table `rate_limits`. Does not wait for a connection. */
export function openLimits(config: Pick<BaseConfig, 'redis' | 'queuePrefix'>, pool: Pool, log: Log): Limits {
  const breaker = new CircuitBreaker({
    openMs: BREAKER_OPEN_MS,
    onOpen: (error) =>
      log.warn({ err: error }, 'rate-limit store unreachable: counting in this process alone'),
    onClose: () => log.info('rate-limit store reachable again'),
  });
  const redis = config.redis && connectRedis(config.redis, 'producer', log);
  const inStore = batcher(
    (batch: Points[]) =>
      redis
        ? countInRedis(redis, `{${config.queuePrefix}}:limit`, batch)
        : countPoints(pool, batch, { withinMs: STORE_TIMEOUT_MS }),
    BATCH,
  );
  const inMemory = new MemoryCounts();
  const count: CountPoints = (points) =>
    breaker.run(
      () => inTime(inStore(points)),
      async () => inMemory.count(points),
    );
  return {
    open: (limit) => new ExactLimiter(limit, count),
    lease: (limit) => new LeaseLimiter(limit, count),
    async close() {
      redis?.disconnect();
    },
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`no answer from the rate-limit store in ${STORE_TIMEOUT_MS} ms`)),
    STORE_TIMEOUT_MS,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
