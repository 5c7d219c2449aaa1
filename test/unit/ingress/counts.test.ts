import assert from 'node:assert/strict';
import { type CountPoints, ExactLimiter } from '../../../ingress/limits/limiter.ts';
import { countInRedis, MemoryCounts } from '../../../ingress/limits/open-limits.ts';
import { countPoints, type Points } from '../../../shared/db/stores/rate-limits.ts';
import { createLog } from '../../../shared/log.ts';
import { connectRedis, type RedisClient } from '../../../shared/queue/redis.ts';
import { useDatabase } from '../../support/database.ts';
import { describeWithRedis, useRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const WINDOW_MS = 600_000;
const HOUR_MS = 60 * 60 * 1000;

/** Defines the tests that every store of counts passes. */
function itCounts(where: string, store: () => CountPoints): void {
  const count = (part: Partial<Points>) => store()({ key: 'k', points: 1, windowMs: WINDOW_MS, ...part });
  let keys = 0;
  let key = '';
  beforeEach(() => {
    keys += 1;
    key = `key-${keys}`;
  });

  it(`the rate limiter ${where} opens a window at a key's first point, and counts its next points in the same window`, async () => {
    const first = await count({ key });
    const second = await count({ key, points: 5 });
    assert.deepEqual([first.points, second.points, second.window], [1, 6, first.window]);
    assert.ok(second.leftMs > WINDOW_MS - 60_000 && second.leftMs <= WINDOW_MS);
  });

  it(`the rate limiter ${where} ignores points for another window than the current one, and returns the current count`, async () => {
    const { window } = await count({ key, points: 3 });
    const other = await count({ key, points: -1, window: window - 1 });
    assert.deepEqual([other.points, other.window], [3, window]);
    const named = await count({ key, points: -1, window });
    assert.deepEqual([named.points, named.window], [2, window]);
  });

  it(`the rate limiter ${where} ignores points for a window that is over, and opens no new window for them`, async () => {
    const { window } = await count({ key, points: 3, windowMs: 100 });
    const late = await until(async () => {
      const answer = await count({ key, points: -1, windowMs: 100, window });
      return answer.window !== window && answer;
    });
    assert.ok(late.leftMs <= 0);
    assert.equal((await count({ key })).points, 1);
  });

  it(`rate-limit counts ${where} do not change when points of an earlier window are refunded`, async () => {
    const limiter = new ExactLimiter({ name: key, points: 2, windowS: 1 }, store());
    const late = new ExactLimiter(limiter.limit, store());
    await late.take('a');
    await until(async () => (await limiter.take('a')).remaining === 1);
    await late.refund('a');
    assert.ok((await limiter.take('a')).remaining <= 0);
  });

  it(`rate-limit counts ${where} include each of 30 points that are sent at once`, async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => count({ key })));
    const used = answers.map(({ points }) => points).sort((a, b) => a - b);
    assert.deepEqual(
      used,
      Array.from({ length: 30 }, (_, n) => n + 1),
    );
  });
}

/** `postpone` moves the end of a key's window, as if the store's clock had been set back by `ms` meanwhile. */
function itSurvivesClockChanges(
  where: string,
  store: () => CountPoints,
  postpone: (key: string, ms: number) => Promise<unknown>,
): void {
  it(`after the clock is set back an hour, the rate limiter ${where} opens a new window of the usual length`, async () => {
    const count = () => store()({ key: 'clock', points: 1, windowMs: WINDOW_MS });
    const { window } = await count();
    await postpone('clock', HOUR_MS);
    const stale = await store()({ key: 'clock', points: 5, windowMs: WINDOW_MS, window: window + HOUR_MS });
    assert.ok(stale.leftMs <= WINDOW_MS && stale.window !== window + HOUR_MS);
    const next = await count();
    assert.equal(next.points, 1);
    assert.ok(next.leftMs > WINDOW_MS - 60_000 && next.leftMs <= WINDOW_MS);
    assert.equal((await count()).points, 2);
  });
}

describe('counts in memory', () => {
  const memory = new MemoryCounts();
  itCounts('in memory', () => async (points) => memory.count(points));
});

describe('counts in PostgreSQL', () => {
  const database = useDatabase();

  const store = (): CountPoints => async (points) =>
    first(await countPoints(database.pool, [points], { withinMs: 5000 }));
  itCounts('in PostgreSQL', store);
  itSurvivesClockChanges('in PostgreSQL', store, (key, ms) =>
    database.pool.query('update rate_limits set expire = expire + $2 where key = $1', [key, ms]),
  );
});

describeWithRedis('counts in Redis', () => {
  const server = useRedisServer();
  let redis: RedisClient;
  before(async () => {
    redis = connectRedis({ kind: 'single', url: server.url }, 'producer', createLog('test', 'silent'));
    await until(() => redis.status === 'ready');
  });
  after(() => redis?.disconnect());

  const store = (): CountPoints => async (points) =>
    first(await countInRedis(redis, '{test}:limit', [points]));
  itCounts('in Redis', store);
  itSurvivesClockChanges('in Redis', store, (key, ms) => redis.hincrby(`{test}:limit:${key}`, 'end', ms));
});

function first<T>([one]: T[]): T {
  assert.ok(one !== undefined);
  return one;
}
