import type { Pool } from 'pg';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { BaseConfig } from '../../shared/config/config.ts';
import { connectRedis } from '../../shared/jobs/redis.ts';
import type { Log } from '../../shared/log.ts';
import { InsuredLimiter, STORE_TIMEOUT_MS } from './insured-limiter.ts';
import type { Limit, Limits } from './limiter.ts';
import { PostgresLimiter, pointsCounter } from './postgres-limiter.ts';
import { StoreAccess } from './store-access.ts';

/** Opens limiters on Redis where there is one, else on the table `rate_limits`. Waits for neither. */
export function openLimits(config: Pick<BaseConfig, 'redis' | 'queuePrefix'>, pool: Pool, log: Log): Limits {
  const store = new StoreAccess(log);
  const countPoints = pointsCounter(pool, { withinMs: STORE_TIMEOUT_MS });
  const redis = config.redis && connectRedis(config.redis, 'producer', log);
  return {
    open(limit) {
      const shared = redis
        ? new RateLimiterRedis({
            ...optionsOf(limit),
            storeClient: redis,
            keyPrefix: `${config.queuePrefix}:limit:${limit.name}`,
            rejectIfRedisNotReady: true,
          })
        : new PostgresLimiter({ ...optionsOf(limit), keyPrefix: limit.name }, pool, countPoints);
      return new InsuredLimiter(limit, shared, store);
    },
    async close() {
      redis?.disconnect();
    },
  };
}

/** A caller that goes on after its refusal costs no statement each time, on the one row that all its requests share. */
function optionsOf({ points, windowS, final = false }: Limit) {
  return { points, duration: windowS, inMemoryBlockOnConsumed: final ? points + 1 : 0 };
}
