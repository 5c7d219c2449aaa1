import { once } from 'node:events';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { setUp } from '../test/setup.ts';
import { startRedisServer } from '../test/support/redis-server.ts';
import { startProcesses } from '../test/support/system.ts';
import { type Child, startChild } from './child.ts';
import type { Load, Measurement } from './load.ts';

/**
 * By hand: calls per second of one, two and four workers with few slots each, on PostgreSQL alone and with Redis.
 * `TEST_DATABASE_URL` names a server to use instead of the embedded one. Exits with 1 if a call fails, or if two
 * workers do less than 1.9 times the work of one, or four less than 3.6 times.
 */
const { values: options } = parseArgs({
  options: {
    slots: { type: 'string', default: '8' },
    service: { type: 'string', default: '50' },
    callers: { type: 'string', default: '128' },
    seconds: { type: 'string', default: '15' },
    webs: { type: 'string', default: '1' },
    queues: { type: 'string', default: 'postgres,redis' },
  },
});

const RATIOS_NEEDED = new Map([
  [1, 1],
  [2, 1.9],
  [4, 3.6],
]);
/** Four workers share the calls, so each takes some seconds until its code is optimised. */
const WARM_UP_MS = 10_000;

async function measure(workers: number, redisUrl: string, provider: Child): Promise<Measurement> {
  await using system = await startProcesses({
    webs: Number(options.webs),
    workers,
    env: {
      REDIS_URL: redisUrl,
      OPENAI_BASE_URL: `${provider.url}/v1`,
      WORKER_CONCURRENCY: options.slots,
      SANDBOX_UNITS: '1000000000',
      LEASE_MS: '',
      LOG_LEVEL: 'warn',
    },
  });
  const app = await system.app();
  // One generator per ingress, because a generator calls a single address.
  const share = Number(options.callers) / system.webs.length;
  const parts = await Promise.all(
    system.webs.map((web, n) => generate(n, { url: web.url, keys: [app.key], callers: share, ...DURATION })),
  );
  return parts.reduce(addMeasurements);
}

const DURATION = { warmUpMs: WARM_UP_MS, measureMs: 1000 * Number(options.seconds) };

async function generate(n: number, load: Load): Promise<Measurement> {
  await using generator = await startChild(`scaling-load-${n}`, 'bench/load.ts');
  generator.process.send(load);
  const [measurement] = (await once(generator.process, 'message')) as [Measurement];
  return measurement;
}

function addMeasurements(one: Measurement, other: Measurement): Measurement {
  return {
    callsPerSecond: one.callsPerSecond + other.callsPerSecond,
    p50: Math.max(one.p50, other.p50),
    p95: Math.max(one.p95, other.p95),
    p99: Math.max(one.p99, other.p99),
    failed: one.failed + other.failed,
    firstFault: one.firstFault ?? other.firstFault,
    calls: one.calls + other.calls,
    clientCpu: Math.max(one.clientCpu, other.clientCpu),
  };
}

await using _ = await setUp();
await using redis = await startRedisServer();
await using provider = await startChild('scaling-provider', 'bench/provider.ts', {
  args: [options.service],
});
let isKept = true;
for (const queue of options.queues.split(',')) {
  let singleWorkerRate = Number.NaN;
  for (const [workers, needed] of RATIOS_NEEDED) {
    const run = await measure(workers, queue === 'redis' ? redis.url : '', provider);
    if (workers === 1) singleWorkerRate = run.callsPerSecond;
    const ratio = run.callsPerSecond / singleWorkerRate;
    isKept &&= ratio >= needed && run.failed === 0;
    const ideal = (workers * Number(options.slots) * 1000) / Number(options.service);
    // On a busy machine the figures mean nothing.
    const [machineLoad] = loadavg();
    process.stdout.write(
      `${JSON.stringify({ queue, workers, ratio, needed, ideal, ...run, machineLoad })}\n`,
    );
  }
}
process.exitCode = isKept ? 0 : 1;
