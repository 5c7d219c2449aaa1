import assert from 'node:assert/strict';
import { freePort } from '../support/free-port.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { type SilentProxy, silentProxy } from '../support/silent-proxy.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Ten seconds of silence, counted from the last answer, which may be a pulse of 5 s ago. */
const STUCK_AFTER_MS = { least: 4000, most: 13_000 };
/** The connections of the silence are given up, and new ones are made. */
const WELL_WITHIN_MS = 20_000;

/** The statuses of `/healthz` on the public port and on the operator's. */
async function healthOf(urls: readonly string[]): Promise<string> {
  const answers = await Promise.all(urls.map((url) => fetch(`${url}/healthz`)));
  return answers.map(({ status }) => status).join();
}

/** An ingress that reaches some of its stores by a proxy only: silent for 10 s it is unhealthy, until it is heard again. */
async function assertSaysSo(system: System, proxy: SilentProxy, env: Record<string, string>): Promise<void> {
  const operatorPort = await freePort();
  const web = await system.startWeb({ ...env, OPERATOR_PORT: `${operatorPort}` });
  try {
    const urls = [web.url, `http://127.0.0.1:${operatorPort}`];
    assert.equal(await healthOf(urls), '200,200');
    proxy.mute();
    const since = performance.now();
    await until(async () => (await healthOf(urls)) === '503,503', STUCK_AFTER_MS.most);
    assert.ok(performance.now() - since > STUCK_AFTER_MS.least, 'a short silence is none');
    proxy.unmute();
    await until(async () => (await healthOf(urls)) === '200,200', WELL_WITHIN_MS);
  } finally {
    await web.stop();
    await proxy.close();
  }
}

describe('the health of an ingress', function () {
  this.timeout(60_000);
  let system: System;
  before(async () => {
    // Queue and wake-ups are on PostgreSQL, wherever the other suites have them.
    const env = { REDIS_URL: '', QUEUE_PREFIX: 'forecue' };
    system = await startSystem({ webs: 0, workers: 0, env });
  });
  after(() => system?.stop());

  const through = (proxy: SilentProxy) => {
    const url = new URL(system.database.url);
    url.hostname = '127.0.0.1';
    url.port = new URL(proxy.url).port;
    return url.href;
  };

  it('is bad while it writes no heartbeat', async () => {
    const proxy = await silentProxy(system.database.url);
    await assertSaysSo(system, proxy, { DATABASE_URL: through(proxy) });
  });

  it('is bad while the connection that hears wake-ups is silent, although its heartbeats are written', async () => {
    const proxy = await silentProxy(system.database.url);
    await assertSaysSo(system, proxy, { DATABASE_DIRECT_URL: through(proxy) });
  });
});

describeWithRedis('the health of an ingress whose queues are on Redis', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let system: System;
  before(async () => {
    redis = await startRedisServer();
    system = await startSystem({ webs: 0, workers: 0 });
  });
  after(async () => {
    await system?.stop();
    await redis?.kill();
  });

  it('is bad while the connection that hears wake-ups is silent', async () => {
    const proxy = await silentProxy(redis.url);
    await assertSaysSo(system, proxy, { REDIS_URL: proxy.url });
  });
});
