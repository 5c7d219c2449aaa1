import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const BACK_WITHIN_MS = 12_000;
const NORMAL_P50_MS = 150;
const CALLS = 7;
const ROUNDS = 3;

interface Silence {
  process: 'web' | 'worker';
  which: 'all' | 'listening';
  server: string;
  through(proxyUrl: string): Record<string, string>;
}

/**
 * Silences connections of a process. Asserts that calls are normally fast again within 12 s, or that the process is
 * then unhealthy or has exited.
 */
async function assertIsNoticed(
  system: System<TestProcess>,
  { process, which, server, through }: Silence,
): Promise<void> {
  const proxy = await startSilentProxy(server);
  const operatorPort = await freePort();
  const env = { ...through(proxy.url), OPERATOR_PORT: `${operatorPort}` };
  const [web, worker] = await Promise.all([
    system.startWeb({ PREDICTION_TIMEOUT_MS: '1000', ...(process === 'web' && env) }),
    system.startWorker(process === 'worker' ? env : {}),
  ]);
  try {
    const app = await system.app();
    const isNormal = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const took: number[] = [];
        for (let n = 0; n < CALLS; n += 1) {
          const { status, tookMs } = await app.predict(predictionBody(), { at: web });
          if (status !== 200) return false;
          took.push(tookMs);
        }
        if (percentile(took, 0.5) >= NORMAL_P50_MS) return false;
      }
      return true;
    };
    await until(isNormal);

    proxy.silence(which);
    const isBack = await until(isNormal, BACK_WITHIN_MS).catch(() => false);
    if (!isBack)
      assert.equal(await isHealthy(operatorPort, process === 'web' ? web : worker), false, 'not back');
  } finally {
    await Promise.all([web.stop(), worker.stop()]);
    await proxy.close();
  }
}

/** Reports whether the process is healthy; a process that has exited is not. */
async function isHealthy(operatorPort: number, { child }: TestProcess): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false;
  const { status } = await fetch(`http://127.0.0.1:${operatorPort}/healthz`);
  return status === 200;
}

describe('silent connections to PostgreSQL #silent-connection', () => {
  // Puts queue and wake-ups on PostgreSQL, even if the other suites use Redis.
  const env = { REDIS_URL: '', QUEUE_PREFIX: 'forecue', SANDBOX_UNITS: '1000000' };
  const system = useProcesses({ webs: 0, workers: 0, env });

  const fallSilent = (process: Silence['process'], which: Silence['which']) =>
    assertIsNoticed(system, {
      process,
      which,
      server: system.database.url,
      through(proxyUrl) {
        const url = new URL(system.database.url);
        url.hostname = '127.0.0.1';
        url.port = new URL(proxyUrl).port;
        return { DATABASE_DIRECT_URL: url.href };
      },
    });

  it('a worker whose queue connections to PostgreSQL fall silent recovers its speed, becomes unhealthy or exits within 12 s', () =>
    fallSilent('worker', 'all'));

  it('an ingress whose queue connections to PostgreSQL fall silent recovers its speed, becomes unhealthy or exits within 12 s', () =>
    fallSilent('web', 'all'));

  it('an ingress whose listening connection to PostgreSQL falls silent recovers its speed, becomes unhealthy or exits within 12 s', () =>
    fallSilent('web', 'listening'));
});

describeWithRedis('silent connections to Redis', () => {
  const redis = useRedisServer();
  const system = useProcesses(() => ({
    webs: 0,
    workers: 0,
    env: { REDIS_URL: redis.url, SANDBOX_UNITS: '1000000' },
  }));

  const fallSilent = (process: Silence['process']) =>
    assertIsNoticed(system, {
      process,
      which: 'all',
      server: redis.url,
      through: (proxyUrl) => ({ REDIS_URL: proxyUrl }),
    });

  it('a worker whose connections to Redis fall silent recovers its speed, becomes unhealthy or exits within 12 s', () =>
    fallSilent('worker'));

  it('an ingress whose connections to Redis fall silent recovers its speed, becomes unhealthy or exits within 12 s', () =>
    fallSilent('web'));
});
