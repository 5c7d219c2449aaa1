import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import type { AppClient, Reply } from '../support/client.ts';
import type { HostedPart } from '../support/hosted.ts';
import { describeWithRedis, type RedisServer, useRedisServer } from '../support/redis-server.ts';
import { useSystem } from '../support/system.ts';

/** Points of a window that does not end during a test. */
const POINTS = 100;
const WINDOW_S = 100;
/** Points that an ingress may grant before the store has counted them. */
const LEASE_POINTS = 4;

describe('leases on rate limits', () => {
  const env = { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: `${POINTS}` };
  const system = useSystem({ webs: 2, workers: 0, env });

  it('two ingresses exceed a rate limit by at most 4 % each, and refuse no call below it', async () => {
    const app = await system.app();
    const answers: Reply<unknown>[] = [];
    for (let batch = 0; batch < 15; batch += 1)
      answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, n) => usage(app, at(n))))));
    const granted = answers.filter(({ status }) => status === 200).length;
    assert.ok(granted >= POINTS && granted <= POINTS + 2 * LEASE_POINTS, `${granted}`);
    const refused = answers.slice(0, POINTS).filter(({ status }) => status === 429);
    assert.deepEqual(refused, []);
  });

  it('one ingress grants an app exactly as many calls as its rate limit, and counts each in the RateLimit header', async () => {
    const app = await system.app();
    for (let left = POINTS - 1; left >= 0; left -= 1) {
      const { status, headers } = await usage(app, at(0));
      assert.deepEqual([status, remainingOf(headers)], [200, left]);
    }
    const refused = await usage(app, at(0));
    assert.deepEqual([refused.status, remainingOf(refused.headers)], [429, 0]);
    const retryAfterS = Number(refused.headers.get('retry-after'));
    assert.ok(retryAfterS > WINDOW_S / 2 && retryAfterS <= WINDOW_S);
  });

  it('the RateLimit header of one ingress also counts calls to another ingress, except at most the latest four', async () => {
    const app = await system.app();
    for (let n = 0; n < 50; n += 1) await usage(app, at(0));
    const { headers } = await usage(app, at(1));
    assert.ok(remainingOf(headers) <= POINTS - 51 + LEASE_POINTS, `${remainingOf(headers)}`);
  });

  const at = (n: number) => system.webs[n % system.webs.length] as HostedPart;
});

describeWithRedis('rate limit on Redis', () => {
  const redis = useRedisServer();
  const system = useSystem(() => ({
    workers: 0,
    env: { RATE_LIMIT_RPS: '10000', RATE_LIMIT_BURST: '100000', REDIS_URL: redis.url },
  }));

  it('a rate limit on Redis runs fewer than one script per four calls', async () => {
    const [web] = system.webs as [HostedPart];
    const app = await system.app();
    const before = await scriptsOf(redis);
    const calls = 400;
    const since = performance.now();
    for (let n = 0; n < calls; n += 20) await Promise.all(Array.from({ length: 20 }, () => usage(app, web)));
    const reports = (performance.now() - since) / 50;
    const scripts = (await scriptsOf(redis)) - before;
    assert.ok(scripts > 0 && scripts <= 2 + reports && scripts < calls / 4, `${scripts} for ${calls} calls`);
  });
});

function usage(app: AppClient, at: HostedPart): Promise<Reply<unknown>> {
  return app.request('GET', '/v1/usage', undefined, { at });
}

/** Returns the remaining points of a header such as `RateLimit: "app";r=57;t=1`. */
function remainingOf(headers: Headers): number {
  return Number(headers.get('ratelimit')?.match(/;r=(\d+);/)?.[1]);
}

async function scriptsOf({ url }: RedisServer): Promise<number> {
  const client = new Redis(url);
  try {
    const stats = await client.info('commandstats');
    const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].map(([, count]) =>
      Number(count),
    );
    return calls.reduce((sum, count) => sum + count, 0);
  } finally {
    client.disconnect();
  }
}
