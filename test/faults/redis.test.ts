import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { freePort } from '../support/free-port.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { type Load, type LoadCall, startLoad } from '../support/load.ts';
import { callUntil } from '../support/paced-until.ts';
import { describeWithRedis, startRedisServer, useRedisServer } from '../support/redis-server.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const CALLERS = 20;
const CALLS_PER_SECOND = 50;
const PAUSE_MS = 10_000;
/** Duration of the outage; 60 s are tried by hand. */
const OUTAGE_MS = 1000 * Number(process.env['REDIS_OUTAGE_S'] ?? 8);
/** Polls delay an answer by 0.75 s on average: a worker polls once a second, an ingress twice. */
const P50_MS = 1200;
const NOTICED_AS_REPLICA_MS = 5000;
const RESUMED_WITHIN_MS = 5000;
/** Enough with wake-ups and a provider that takes 50 to 100 ms, on a busy machine. */
const PROMPT_MS = 400;

describeWithRedis('Redis', function () {
  this.timeout(60_000 + OUTAGE_MS);
  const redis = useRedisServer();
  const system = useProcesses(() => ({
    webs: 0,
    workers: 0,
    env: { REDIS_URL: redis.url, SANDBOX_UNITS: '1000000' },
  }));
  let app: AppClient;
  let operators: { url: string }[];

  before(async () => {
    system.provider.respond((response, call) => delay(50 + 50 * Math.random())(response, call));
    const ports = [await freePort(), await freePort()] as const;
    operators = ports.map((port) => ({ url: `http://127.0.0.1:${port}` }));
    await Promise.all([
      system.startWeb({ OPERATOR_PORT: `${ports[0]}` }),
      system.startWorker({ OPERATOR_PORT: `${ports[1]}` }),
    ]);
  });
  beforeEach(async () => {
    app = await system.app();
  });
  afterEach(async () => {
    await redis.start();
    await asking?.stop();
  });

  let asking: Load | undefined;
  const load = () => {
    asking = startLoad((body) => app.predict(body), { callers: CALLERS });
    return asking;
  };
  const ready = async (of = operators) => {
    const answers = await Promise.all(of.map(({ url }) => fetch(`${url}/readyz`)));
    return answers.map(({ status }) => status).join();
  };

  /** Asserts that every call got 200 and is charged, no work is unfinished, and no process has ended. */
  async function assertBalanced(calls: readonly LoadCall[]): Promise<void> {
    const answered = calls.length;
    assert.deepEqual(tally(calls.map(({ reply }) => reply)), { '200': answered });
    const rows = await system.sql<{ live: number; suggested: number }>(
      `select (select count(*) from work where party = $1)::int as live,
              (select count(*) from history where party = $1 and state = 'suggested')::int as suggested`,
      [app.id],
    );
    const { body: usage } = await app.usage();
    assert.deepEqual(
      { ...rows[0], units: usage.prediction_units, reserved: usage.reserved_units },
      { live: 0, suggested: answered, units: answered, reserved: 0 },
    );
    for (const { child } of [...system.webs, ...system.workers])
      assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  }

  it('every call gets 200 while Redis loses all its data four times #queue-lost', async () => {
    const asking = load();
    for (let n = 0; n < 4; n += 1) {
      await sleep(700);
      await redis.flush();
    }
    await sleep(700);
    const calls = await asking.stop();
    await assertBalanced(calls);
  });

  it('every call gets 200 while Redis pauses for 10 s, and the processes report that they are not ready', async () => {
    const asking = load();
    await sleep(500);
    const over = performance.now() + PAUSE_MS;
    await redis.pause(PAUSE_MS);
    await assertUnready(over - 1500);
    await sleep(over - performance.now());
    await assertResumes(asking.calls);
    const calls = await asking.stop();
    await assertBalanced(calls);
  });

  it('every call gets 200 during a Redis outage, and half of the calls within 1.2 s, at a load of 50 calls a second #redis-down', async () => {
    const call = async (): Promise<LoadCall> => {
      const body = predictionBody();
      const startedAt = performance.now();
      return { body, reply: await app.predict(body), startedAt, endedAt: performance.now() };
    };
    const over = performance.now() + OUTAGE_MS;
    await redis.kill();
    const outage = assertUnready(over - 1500).then(() => sleep(over - performance.now()));
    const meanwhile = await callUntil(CALLS_PER_SECOND, call, outage);
    await redis.start();
    const asking = load();
    await assertResumes(asking.calls);
    const calls = [...meanwhile, ...(await asking.stop())];
    await assertBalanced(calls);
    const p50 = percentile(
      meanwhile.map(({ reply }) => reply.tookMs),
      0.5,
    );
    assert.ok(p50 < P50_MS, `p50 ${p50} ms`);
  });

  it('within 5 s after a Redis primary became a read-only replica, every connection has left it, and every call gets 200 #redis-demoted', async () => {
    const successor = await startRedisServer();
    const proxy = await startSilentProxy(redis.url);
    const started: TestProcess[] = [];
    try {
      const env = { REDIS_URL: proxy.url, QUEUE_PREFIX: 'demoted' };
      const ports = [await freePort(), await freePort()] as const;
      started.push(
        await system.startWeb({ ...env, OPERATOR_PORT: `${ports[0]}` }),
        await system.startWorker({ ...env, OPERATOR_PORT: `${ports[1]}` }),
      );
      const urls = ports.map((port) => ({ url: `http://127.0.0.1:${port}` }));
      const [web] = system.webs.slice(-1);
      assert.equal((await app.predict(predictionBody(), { at: web ?? app })).status, 200);
      asking = startLoad((body) => app.predict(body, { at: web ?? app }), { callers: CALLERS });
      const before = await redis.clients();
      const names = ['forecue-producer', 'forecue-consumer', 'forecue-listener'];
      assert.deepEqual(
        names.filter((name) => ![...before.values()].includes(name)),
        [],
      );

      await redis.follow(successor);
      // The address still leads to the demoted server.
      const since = performance.now();
      await until(async () => (await ready(urls)) === '503,503', NOTICED_AS_REPLICA_MS);
      await until(async () => {
        const now = await redis.clients();
        return [...before.keys()].every((id) => !now.has(id));
      }, NOTICED_AS_REPLICA_MS);
      assert.ok(performance.now() - since < NOTICED_AS_REPLICA_MS, `${performance.now() - since} ms`);

      proxy.move(successor.url);
      await until(async () => (await ready(urls)) === '200,200', NOTICED_AS_REPLICA_MS);
      await until(async () => {
        const [left, arrived] = [await redis.clients(), await successor.clients()];
        return names.every((name) => [...arrived.values()].includes(name)) && left.size < before.size;
      }, NOTICED_AS_REPLICA_MS);
      const calls = await asking.stop();
      assert.deepEqual(tally(calls.map(({ reply }) => reply)), { '200': calls.length });
    } finally {
      await asking?.stop();
      await Promise.all(started.map((one) => one.stop()));
      system.webs.pop();
      system.workers.pop();
      await redis.follow(undefined);
      await Promise.all([proxy.close(), successor.kill()]);
    }
  });

  it('processes started while Redis is unreachable are unready but answer calls, and become ready when Redis is reachable', async () => {
    await redis.kill();
    const ports = [await freePort(), await freePort()] as const;
    const [web, worker] = await Promise.all([
      system.startWeb({ OPERATOR_PORT: `${ports[0]}` }),
      system.startWorker({ OPERATOR_PORT: `${ports[1]}` }),
    ]);
    await system.workers[0]?.stop('SIGKILL');
    const answers = () =>
      Promise.all(ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/readyz`)).status));
    assert.deepEqual(await answers(), [503, 503]);
    const answered = await app.predict(predictionBody(), { at: web });
    assert.equal(answered.status, 200, answered.text);
    await redis.start();
    await until(async () => (await answers()).join() === '200,200', RESUMED_WITHIN_MS);
    const reply = await app.predict(predictionBody(), { at: web });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(worker.child.exitCode, null);
  });

  it('processes stopped while Redis is unreachable exit with code 0 within the stop limit', async () => {
    const [web, worker] = await Promise.all([system.startWeb(), system.startWorker()]);
    assert.equal((await app.predict(predictionBody(), { at: web })).status, 200);
    await redis.kill();
    const since = performance.now();
    const ends = [web, worker].map(async (one) => {
      await one.stop('SIGTERM');
      return { code: one.child.exitCode, inTime: performance.now() - since < STOP_LIMITS.process };
    });
    assert.deepEqual(await Promise.all(ends), [
      { code: 0, inTime: true },
      { code: 0, inTime: true },
    ]);
  });

  /** Asserts that no process is ready at any time between 2.5 s from now and `until`. */
  async function assertUnready(until: number): Promise<void> {
    // A frozen server is noticed once a probe times out.
    await sleep(2500);
    do {
      assert.equal(await ready(), '503,503');
      await sleep(200);
    } while (performance.now() < until);
  }

  /** Asserts that every process is ready soon, and that answers are as prompt as before. */
  async function assertResumes(calls: readonly LoadCall[]): Promise<void> {
    await until(async () => (await ready()) === '200,200', RESUMED_WITHIN_MS);
    await until(() => {
      const latest = calls.slice(-CALLERS).map(({ reply }) => reply.tookMs);
      return percentile(latest, 0.5) < PROMPT_MS;
    }, RESUMED_WITHIN_MS);
  }
});
