import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { type SilentProxy, silentProxy } from '../support/silent-proxy.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Time until a silent process counts as stuck: ten seconds after its last answer, which may be 5 s old already. */
const STUCK_AFTER_MS = { least: 4000, most: 13_000 };
/** Time in which the silent connections are given up and new ones are made. */
const HEALTHY_WITHIN_MS = 20_000;
/**
 * Time until a process is unready: a connection's pulse, or the query timeout, plus the second for which an answer is
 * cached.
 */
const UNREADY_WITHIN_MS = 6000;

/** Returns the statuses at each of the URLs: the public port and the operator port. */
async function healthOf(urls: readonly string[], path = '/healthz'): Promise<string> {
  const answers = await Promise.all(urls.map((url) => fetch(`${url}${path}`)));
  return answers.map(({ status }) => status).join();
}

/** Asserts that an ingress is unhealthy once the proxy to its store is silent for 10 s, and healthy afterwards. */
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
  await until(async () => (await healthOf(urls)) === '503,503', STUCK_AFTER_MS.most);
  assert.ok(performance.now() - since > STUCK_AFTER_MS.least, 'a short silence is tolerated');
  proxy.unmute();
  await until(async () => (await healthOf(urls)) === '200,200', HEALTHY_WITHIN_MS);
}

/** Asserts that an ingress whose proxy to the queue's store is silent is not ready, but healthy and serving calls. */
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
  const over = performance.now() + STUCK_AFTER_MS.most;
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
  // Queue and wake-ups are on PostgreSQL here, even if the other suites use Redis.
  const env = { REDIS_URL: '', QUEUE_PREFIX: 'forecue' };
  const system = useProcesses({ webs: 0, env });

  const through = (proxy: SilentProxy) => {
    const url = new URL(system.database.url);
    url.hostname = '127.0.0.1';
    url.port = new URL(proxy.url).port;
    return url.href;
  };

  it('an ingress is unhealthy while it cannot write its heartbeat, and healthy again afterwards', async () => {
    await using proxy = await silentProxy(system.database.url);
    await assertUnhealthyWhileSilent(system, proxy, { DATABASE_URL: through(proxy) });
  });

  it('an ingress that cannot reach its queue and wake-ups on PostgreSQL is not ready but healthy, and answers calls', async () => {
    await using proxy = await silentProxy(system.database.url);
    await assertServesWithout(system, proxy, { DATABASE_DIRECT_URL: through(proxy) });
  });
});

describeWithRedis('health of an ingress on Redis', function () {
  this.timeout(60_000);
  const redis = useRedisServer();
  const system = useProcesses(() => ({ webs: 0, env: { REDIS_URL: redis.url } }));

  it('an ingress that cannot reach Redis is not ready but healthy, and answers calls', async () => {
    await using proxy = await silentProxy(redis.url);
    await assertServesWithout(system, proxy, { REDIS_URL: proxy.url });
  });
});
