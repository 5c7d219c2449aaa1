import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import pg from 'pg';
import type { LimiterFactory } from '../../ingress/limits/limiter.ts';
import { openLimits } from '../../ingress/limits/open-limits.ts';
import { createLog } from '../../shared/log.ts';
import type { AppClient, Reply } from '../support/client.ts';
import { useDatabase } from '../support/database.ts';
import type { HostedPart } from '../support/hosted.ts';
import { useOwnServer } from '../support/own-server.ts';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { type Part, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Points of a window, which does not end during a test. */
const POINTS = 20;
const LIMITS = { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: `${POINTS}` };
const STORE_LOST_MESSAGE = 'rate-limit store unreachable';
const STORE_BACK_MESSAGE = 'rate-limit store reachable again';
/** Three times the wait for a silent store, since the machine may be busy. */
const HELD_MS = 3000;

describe('rate-limit store outage', function () {
  this.timeout(60_000);

  describe('PostgreSQL', () => {
    const server = useOwnServer();
    const database = useDatabase();
    let pool: pg.Pool;
    let limits: LimiterFactory;
    let lines = '';
    before(async () => {
      pool = new pg.Pool({ connectionString: database.url, connectionTimeoutMillis: 2000 });
      pool.on('error', () => {});
      const destination = new Writable({
        write(line, _encoding, done) {
          lines += line;
          done();
        },
      });
      limits = openLimits(
        { redis: undefined, queuePrefix: 'forecue' },
        pool,
        createLog('test', 'info', destination),
      );
    });
    after(async () => {
      await limits?.close();
      await pool?.end();
    });

    it('while PostgreSQL is down, an ingress enforces rate limits by itself and logs the outage once; afterwards it uses PostgreSQL again', async () => {
      const limiter = limits.open({ name: 'app', points: POINTS, windowS: 600 });
      await limiter.take('early');
      await server.stop('fast');
      const verdicts = await Promise.all(Array.from({ length: 3 * POINTS }, () => limiter.take('late')));
      assert.equal(verdicts.filter(({ allowed }) => allowed).length, POINTS);
      assert.ok(verdicts.every(({ allowed, resetS }) => allowed || resetS > 0));
      await limiter.refund('late');
      assert.equal((await limiter.take('late')).allowed, false);
      assert.equal(occurrences(lines, STORE_LOST_MESSAGE), 1);

      await server.start();
      await until(async () => {
        await limiter.take('probe');
        return lines.includes(STORE_BACK_MESSAGE);
      });
      assert.equal((await limiter.take('early')).remaining, POINTS - 2);
      assert.equal(occurrences(lines, STORE_LOST_MESSAGE), 1);
    });
  });

  describe('locked table', () => {
    const system = useSystem({ workers: 0, env: { ...LIMITS, REDIS_URL: '', QUEUE_PREFIX: '' } });

    it('a locked rate-limit table delays no request by 3 s or more, and the rate limit still holds', async () => {
      const [web] = system.webs as [HostedPart];
      const app = await system.app();
      const locker = await system.database.pool.connect();
      try {
        await locker.query('begin; lock table rate_limits in access exclusive mode');
        assertCounted(await usages(app, 2 * POINTS));
        assert.equal(occurrences(web.log, STORE_LOST_MESSAGE), 1);
      } finally {
        await locker.query('rollback');
        locker.release();
      }

      await until(async () => {
        await usages(await system.app(), 1);
        return web.log.includes(STORE_BACK_MESSAGE);
      });
      const fresh = await system.app();
      await usages(fresh, 2);
      const { rows } = await system.database.pool.query('select from rate_limits where points = 2');
      assert.equal(rows.length, 1);
    });
  });

  describeWithRedis('Redis', () => {
    const redis = useRedisServer();
    const system = useSystem(() => ({ webs: 2, workers: 0, env: { ...LIMITS, REDIS_URL: redis.url } }));

    it('rate limits on Redis are shared by all ingresses, apply per ingress while Redis is down, and are shared again afterwards', async () => {
      const webs = system.webs as [HostedPart, HostedPart];
      const shared = await usagesAtAll(await system.app(), webs, 2 * POINTS);
      assert.equal(shared.filter(({ status }) => status === 200).length, POINTS);

      await redis.kill();
      const app = await system.app();
      for (const at of webs) assertCounted(await usages(app, 2 * POINTS, at));

      await redis.start();
      await until(async () => {
        const another = await system.app();
        for (const at of webs) await usages(another, 1, at);
        return webs.every(({ log }) => log.includes(STORE_BACK_MESSAGE));
      });
      const again = await usagesAtAll(await system.app(), webs, 2 * POINTS);
      assert.equal(again.filter(({ status }) => status === 200).length, POINTS);
      for (const { log } of webs) assert.equal(occurrences(log, STORE_LOST_MESSAGE), 1);
    });

    it('a frozen Redis that stores the rate limits delays no request by 3 s or more, and the rate limit still holds', async () => {
      const [web] = system.webs as [HostedPart];
      const app = await system.app();
      const before = occurrences(web.log, STORE_LOST_MESSAGE);
      await redis.pause(4000);
      assertCounted(await usages(app, 2 * POINTS));
      assert.equal(occurrences(web.log, STORE_LOST_MESSAGE), before + 1);
    });
  });
});

/** Sends `count` calls at once, which need only the database and the store of the rate limits. */
function usages(app: AppClient, count: number, at: { url: string } = app): Promise<Reply<unknown>[]> {
  return Promise.all(Array.from({ length: count }, () => app.request('GET', '/v1/usage', undefined, { at })));
}

async function usagesAtAll(app: AppClient, webs: Part[], count: number): Promise<Reply<unknown>[]> {
  return (await Promise.all(webs.map((web) => usages(app, count, web)))).flat();
}

/** Asserts that as many calls as the limit allows were answered, and that none waited for the store. */
function assertCounted(calls: readonly Reply<unknown>[]): void {
  const statuses = calls.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, POINTS, `${statuses}`);
  assert.equal(statuses.filter((status) => status === 429).length, calls.length - POINTS, `${statuses}`);
  assert.ok(calls.every(({ headers }) => headers.has('ratelimit')));
  for (const { tookMs } of calls) assert.ok(tookMs < HELD_MS, `${tookMs} ms`);
}

function occurrences(log: string, text: string): number {
  return log.split(text).length - 1;
}
