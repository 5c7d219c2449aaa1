import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { startSentinels } from '../support/redis-sentinel.ts';
import { describeWithRedis, type RedisServer } from '../support/redis-server.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { type LoadObservations, lossesIn, underLoad } from '../support/under-load.ts';
import { until } from '../support/until.ts';

const PER_SECOND = 50;
const CALM_MS = 1000;
const RECOVERED_WITHIN_MS = 20_000;
/** Enough for the work, a poll of the worker and a poll of the caller, since no wake-ups arrive during a failover. */
const SILENCE_MS = 2500;
const NAMES = ['forecue-producer', 'forecue-consumer', 'forecue-listener'];

/** An ingress and a worker on Redis. */
class Installation implements AsyncDisposable {
  readonly system: System<TestProcess>;
  readonly #operators: string[];

  constructor(system: System<TestProcess>, operators: string[]) {
    this.system = system;
    this.#operators = operators;
  }

  static async start(redisUrl: string): Promise<Installation> {
    const env = { REDIS_URL: redisUrl, QUEUE_PREFIX: 'forecue', SANDBOX_UNITS: '1000000' };
    const system = await startProcesses({ webs: 0, workers: 0, env });
    system.provider.respond((response, call) => delay(50 + 50 * Math.random())(response, call));
    const ports = [await freePort(), await freePort()] as const;
    await Promise.all([
      system.startWeb({ OPERATOR_PORT: `${ports[0]}` }),
      system.startWorker({ OPERATOR_PORT: `${ports[1]}` }),
    ]);
    return new Installation(
      system,
      ports.map((port) => `http://127.0.0.1:${port}/readyz`),
    );
  }

  async isReady(): Promise<boolean> {
    const answers = await Promise.all(this.#operators.map((url) => fetch(url)));
    return answers.every(({ status }) => status === 200);
  }

  /** Sends a steady load while `fail` runs, until all processes are ready afterwards. */
  async endure(fail: () => Promise<void>): Promise<LoadObservations & { recoveredMs: number }> {
    const app = await this.system.app();
    let recoveredMs = Number.NaN;
    const { pool } = this.system.database;
    const seen = await underLoad({ app, pool, provider: this.system.provider }, PER_SECOND, async () => {
      await sleep(CALM_MS);
      const since = performance.now();
      await fail();
      await until(() => this.isReady(), RECOVERED_WITHIN_MS);
      recoveredMs = Math.round(performance.now() - since);
      await sleep(CALM_MS);
    });
    // Waits for wake-ups to arrive again: without them, a call takes until the next poll.
    await until(async () => (await app.predict(predictionBody())).tookMs < 300);
    return { ...seen, recoveredMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.system.stop();
  }
}

function assertUnnoticed(title: string, seen: LoadObservations & { recoveredMs: number }): void {
  const { requests, answered, provided, silenceMs } = seen;
  console.log(title, JSON.stringify(seen));
  assert.deepEqual(lossesIn(seen), [], JSON.stringify(seen));
  assert.deepEqual([answered, provided], [requests, requests], JSON.stringify(seen));
  assert.ok(silenceMs < SILENCE_MS, `${silenceMs} ms without an answer`);
}

async function holdsAll(server: RedisServer): Promise<boolean> {
  const names = [...(await server.clients()).values()];
  return NAMES.every((name) => names.includes(name));
}

describeWithRedis('a failover of Redis under load', () => {
  it('while Sentinel replaces a crashed Redis primary, every call gets 200 and is billed once #redis-failover', async () => {
    await using sentinels = await startSentinels();
    await using installation = await Installation.start(sentinels.url);
    const { primary, other } = await sentinels.servers();
    const seen = await installation.endure(async () => {
      await primary.kill();
      await until(async () => (await sentinels.servers()).primary === other, RECOVERED_WITHIN_MS);
      await until(() => holdsAll(other), RECOVERED_WITHIN_MS);
    });
    assertUnnoticed('sentinel, crash', seen);
  });

  it('when Sentinel demotes a Redis primary to a read-only replica, every connection leaves that replica and every call gets 200', async () => {
    await using sentinels = await startSentinels();
    await using installation = await Installation.start(sentinels.url);
    const { primary, other } = await sentinels.servers();
    const seen = await installation.endure(async () => {
      await sentinels.switchOver();
      await until(() => holdsAll(other), RECOVERED_WITHIN_MS);
      await until(async () => (await primary.clients()).size === 0, RECOVERED_WITHIN_MS);
    });
    assertUnnoticed('sentinel, switch-over', seen);
  });

  it("while a Redis cluster replaces the queue's crashed primary, every call gets 200 and is billed once #redis-failover", async () => {
    const cluster = await startRedisCluster();
    try {
      await using installation = await Installation.start(cluster.url);
      const primary = await cluster.primaryOf('{forecue}');
      const seen = await installation.endure(async () => {
        await primary.kill();
        await until(async () => {
          const next = await cluster.primaryOf('{forecue}').catch(() => primary);
          return next !== primary;
        }, RECOVERED_WITHIN_MS);
      });
      assertUnnoticed('cluster, crash', seen);
    } finally {
      await cluster.close();
    }
  });
});
