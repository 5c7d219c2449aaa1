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

describe('counts in memory', () => {
  const memory = new MemoryCounts();
  itCounts('in memory', () => async (points) => memory.count(points));
});

describe('counts in PostgreSQL', () => {
  const database = useDatabase();

  itCounts(
    'in PostgreSQL',
    () => async (points) => first(await countPoints(database.pool, [points], { withinMs: 5000 })),
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

  itCounts('in Redis', () => async (points) => first(await countInRedis(redis, '{test}:limit', [points])));
});

function first<T>([one]: T[]): T {
  assert.ok(one !== undefined);
  return one;
}
