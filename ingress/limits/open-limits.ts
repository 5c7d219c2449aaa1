import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { BaseConfig } from '../../shared/config/config.ts';
import { createBatcher } from '../../shared/db/batcher.ts';
import { countPoints, type KeyWindow, type Points } from '../../shared/db/stores/rate-limits.ts';
import type { Log } from '../../shared/log.ts';
import { connectRedis, type RedisClient } from '../../shared/queue/redis.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import { LeaseLimiter } from './lease-limiter.ts';
import { type CountPoints, ExactLimiter, type LimiterFactory } from './limiter.ts';

const BREAKER_OPEN_MS = 1000;
const STORE_TIMEOUT_MS = 1000;
/** Counts many calls in one statement. Otherwise the calls of a busy app would queue for the lock on its row. */
const BATCH = { maxItems: 200 };

/** Opens limiters on Redis if configured, else on the table `rate_limits`. Does not wait for a connection. */
export function openLimits(
  config: Pick<BaseConfig, 'redis' | 'queuePrefix'>,
  pool: Pool,
  log: Log,
): LimiterFactory {
  const breaker = new CircuitBreaker({
    openMs: BREAKER_OPEN_MS,
    onOpen: (error) =>
      log.warn({ err: error }, 'rate-limit store unreachable: counting in this process alone'),
    onClose: () => log.info('rate-limit store reachable again'),
  });
  const redis = config.redis && connectRedis(config.redis, 'producer', log);
  const countInStore = createBatcher(
    (batch: Points[]) =>
      redis
        ? countInRedis(redis, `{${config.queuePrefix}}:limit`, batch)
        : countPoints(pool, batch, { withinMs: STORE_TIMEOUT_MS }),
    BATCH,
  );
  const memoryCounts = new MemoryCounts();
  const count: CountPoints = (points) =>
    breaker.run(
      () => withTimeout(STORE_TIMEOUT_MS, () => countInStore(points)),
      async () => memoryCounts.count(points),
    );
  return {
    open: (limit) => new ExactLimiter(limit, count),
    lease: (limit) => new LeaseLimiter(limit, count),
    async close() {
      redis?.disconnect();
    },
  };
}

interface CircuitBreakerOptions {
  /** Time until one call probes the dependency. */
  openMs: number;
  /** Called with the failure that opens the circuit. Not called when a probe fails. */
  onOpen(error: unknown): void;
  onClose(): void;
}

/**
 * The first failure opens the circuit: no call reaches the dependency for `openMs`, then a single one probes it. All
 * other calls get the fallback at once. A dependency that may hang needs a time-out of its own.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  /** Time at which the next call may probe, by `performance.now()`; undefined while the circuit is closed. */
  #probeAt: number | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Resolves with the result of `work`, or of `fallback` if `work` fails or may not be tried. */
  async run<T>(work: () => Promise<T>, fallback: () => Promise<T>): Promise<T> {
    const isProbe = this.#probeAt !== undefined;
    if (this.#probeAt !== undefined) {
      if (performance.now() < this.#probeAt) return fallback();
      this.#probeAt = Number.POSITIVE_INFINITY;
    }
    try {
      const result = await work();
      if (isProbe) this.#close();
      return result;
    } catch (error) {
      // Ignores a failure that comes after another call has opened the circuit.
      if (isProbe || this.#probeAt === undefined) this.#open(error);
      return fallback();
    }
  }

  #open(error: unknown): void {
    if (this.#probeAt === undefined) this.#options.onOpen(error);
    this.#probeAt = performance.now() + this.#options.openMs;
  }

  #close(): void {
    this.#probeAt = undefined;
    this.#options.onClose();
  }
}

/** Maximum keys that a process counts by itself; beyond it, the least recently used are dropped. */
const KEYS_MAX = 100_000;

/** Counts points in memory. Its window ids, times since the process started, never equal ids of the store. */
export class MemoryCounts {
  /** Uses `maxSize`, at 1 per entry, because with `max` the cache would allocate all of its room at once. */
  readonly #windows = new LRUCache<string, { points: number; end: number }>({
    maxSize: KEYS_MAX,
    sizeCalculation: () => 1,
  });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  count({ key, points, windowMs, window }: Points): KeyWindow {
    const now = this.#now();
    const known = this.#windows.get(key);
    let current = known && known.end > now ? known : undefined;
    if (window !== undefined && window !== current?.end)
      return { points: current?.points ?? 0, leftMs: (current?.end ?? now) - now, window: current?.end ?? 0 };
    current = { points: (current?.points ?? 0) + points, end: current?.end ?? Math.floor(now + windowMs) };
    this.#windows.set(key, current);
    return { points: current.points, leftMs: current.end - now, window: current.end };
  }
}

/**
 * Takes three arguments per key: the points to add, the length of a new window in ms, and the end of the window in
 * which the points count (0 for the current window). A window that ends later than a new one would counts as ended,
 * since the clock was set back.
 */
const COUNT_SCRIPT = `
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local counts = {}
  for i, key in ipairs(KEYS) do
    local window = tonumber(ARGV[3 * i])
    local stored = redis.call('hmget', key, 'points', 'end')
    local points, ends = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
    if ends <= now or ends > now + ARGV[3 * i - 1] then points, ends = 0, 0 end
    if window == 0 or window == ends then
      if ends == 0 then ends = now + ARGV[3 * i - 1] end
      points = points + ARGV[3 * i - 2]
      redis.call('hset', key, 'points', points, 'end', ends)
      redis.call('pexpireat', key, ends)
    end
    for _, number in ipairs({ points, math.max(ends - now, 0), ends }) do table.insert(counts, number) end
  end
  return counts`;

/** Counts points of keys. `prefix` has a hash tag, so that a Redis cluster keeps all keys in one slot. */
export async function countInRedis(
  redis: RedisClient,
  prefix: string,
  batch: readonly Points[],
): Promise<KeyWindow[]> {
  const keys = batch.map(({ key }) => `${prefix}:${key}`);
  const values = batch.flatMap(({ points, windowMs, window = 0 }) => [points, windowMs, window]);
  const numbers = (await redis.eval(COUNT_SCRIPT, keys.length, ...keys, ...values)) as number[];
  return batch.map((_, n) => {
    const [points = 0, leftMs = 0, window = 0] = numbers.slice(3 * n);
    return { points, leftMs, window };
  });
}
