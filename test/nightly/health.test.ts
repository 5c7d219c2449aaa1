import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

/** An ingress is stuck ten seconds after the database's last answer, which may be 5 s old when the silence begins. */
const STUCK_AFTER_MS = { min: 4000, max: 13_000 };
/** Enough to give up silent connections and open new ones. */
const HEALTHY_WITHIN_MS = 20_000;
/** Enough for a connection's probe or a query to time out, and for a second in which readiness is cached. */
const UNREADY_WITHIN_MS = 6000;

async function healthOf(urls: readonly string[], path = '/healthz'): Promise<string> {
  const answers = await Promise.all(urls.map((url) => fetch(`${url}${path}`)));
  return answers.map(({ status }) => status).join();
}

/** Asserts that an ingress is unhealthy while the proxy to its database is silent, and healthy afterwards. */
async function assertUnhealthyWhileSilent(
  system: System<TestProcess>,
  proxy: SilentProxy,
  env: Record<string, string>,
): Promise<void> {
  const operatorPort = await freePort();
  await using web = await system.startWeb({ ...env, OPERATOR_PORT: `${operatorPort}` });
  const urls = [web.url, `http://127.0.0.1:${operatorPort}`];
  assert.equal(await healthOf(urls), '200,200');
  proxy.mute();
  const since = performance.now();
  await until(async () => (await healthOf(urls)) === '503,503', STUCK_AFTER_MS.max);
  assert.ok(performance.now() - since > STUCK_AFTER_MS.min, 'a short silence is tolerated');
  proxy.unmute();
  await until(async () => (await healthOf(urls)) === '200,200', HEALTHY_WITHIN_MS);
}

/** Asserts that an ingress is not ready, but healthy and serving calls, while the proxy to its queue is silent. */
async function assertServesWithout(
  system: System<TestProcess>,
  proxy: SilentProxy,
  env: Record<string, string>,
): Promise<void> {
  const operatorPort = await freePort();
  await using web = await system.startWeb({ ...env, OPERATOR_PORT: `${operatorPort}` });
  const urls = [web.url, `http://127.0.0.1:${operatorPort}`];
  const app = await system.app();
  assert.equal((await app.predict(predictionBody(), { at: web })).status, 200);
  proxy.mute();
  const over = performance.now() + STUCK_AFTER_MS.max;
  await until(async () => (await healthOf(urls, '/readyz')) === '503,503', UNREADY_WITHIN_MS);
  while (performance.now() < over) {
    const reply = await app.predict(predictionBody(), { at: web });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(await healthOf(urls), '200,200');
    await sleep(200);
  }
  proxy.unmute();
  await until(async () => (await healthOf(urls, '/readyz')) === '200,200', HEALTHY_WITHIN_MS);
}

describe('health of an ingress', function () {
  this.timeout(60_000);
  // Puts queue and wake-ups on PostgreSQL, even if the other suites use Redis.
  const env = { REDIS_URL: '', QUEUE_PREFIX: 'forecue' };
  const system = useProcesses({ webs: 0, env });

  const through = (proxy: SilentProxy) => {
    const url = new URL(system.database.url);
    url.hostname = '127.0.0.1';
    url.port = new URL(proxy.url).port;
    return url.href;
  };

  it('an ingress is unhealthy (503) 4 to 13 s after PostgreSQL stops answering it, and healthy once PostgreSQL answers again', async () => {
    await using proxy = await startSilentProxy(system.database.url);
    await assertUnhealthyWhileSilent(system, proxy, { DATABASE_URL: through(proxy) });
  });

  it('an ingress whose direct connection to PostgreSQL is silent is not ready but healthy, and answers calls', async () => {
    await using proxy = await startSilentProxy(system.database.url);
    await assertServesWithout(system, proxy, { DATABASE_DIRECT_URL: through(proxy) });
  });
});

describeWithRedis('health of an ingress on Redis', function () {
  this.timeout(60_000);
  const redis = useRedisServer();
  const system = useProcesses(() => ({ webs: 0, env: { REDIS_URL: redis.url } }));

  it('an ingress that cannot reach Redis is not ready but healthy, and answers calls', async () => {
    await using proxy = await startSilentProxy(redis.url);
    await assertServesWithout(system, proxy, { REDIS_URL: proxy.url });
  });
});
