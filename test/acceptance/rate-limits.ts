import { parseArgs } from 'node:util';
import { cpuMsOf } from '../../bench/cpu.ts';
import { setUp } from '../setup.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { startProcesses, type TestProcess } from '../support/system.ts';

/**
 * By hand: the cost of rate limits on Redis. Compares an ingress with limits and one without in neighbouring short
 * rounds. `bare` requests are refused (400) right after they are counted. CPU is that of the ingress, on Linux.
 */
const HIGH_LIMITS = { RATE_LIMIT_RPS: '1000000', RATE_LIMIT_BURST: '1000000' };

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '1.5' },
    callers: { type: 'string', default: '64' },
  },
});

await using _ = await setUp();
await using redis = await startRedisServer();
await using system = await startProcesses({
  env: { ...HIGH_LIMITS, REDIS_URL: redis.url, LOG_LEVEL: 'warn', SANDBOX_UNITS: '1000000000' },
});
const [on] = system.webs as [TestProcess];
const off = await system.startWeb({ RATE_LIMIT_RPS: '0' });
const app = await system.app();
const bare = Buffer.from('{');
for (const [name, body] of [
  ['bare', () => bare],
  ['predictions', predictionBody],
] as const) {
  for (const web of [on, off]) await round(app, web, body);
  const pairs = [];
  for (let n = 0; n < Number(options.rounds); n += 1) {
    const order = n % 2 === 0 ? [on, off] : [off, on];
    const found = new Map<TestProcess, Round>();
    for (const web of order) found.set(web, await round(app, web, body));
    pairs.push({ on: found.get(on) as Round, off: found.get(off) as Round });
  }
  console.log(name, {
    callsPerS: {
      on: median(pairs.map(({ on }) => on.rate)),
      off: median(pairs.map(({ off }) => off.rate)),
    },
    cpuPerCallUs: {
      on: median(pairs.map(({ on }) => on.cpuUs)),
      off: median(pairs.map(({ off }) => off.cpuUs)),
    },
    rateOnToOff: median(pairs.map(({ on, off }) => on.rate / off.rate)),
    cpuOnToOff: median(pairs.map(({ on, off }) => on.cpuUs / off.cpuUs)),
  });
}

interface Round {
  rate: number;
  cpuUs: number;
}

async function round(app: AppClient, web: TestProcess, body: () => object | Buffer): Promise<Round> {
  const client = new KeepAliveClient(app.key);
  const pid = web.child.pid ?? 0;
  const [since, cpuMsSince] = [performance.now(), await cpuMsOf(pid)];
  const end = since + Number(options.seconds) * 1000;
  let calls = 0;
  const caller = async () => {
    for (; performance.now() < end; calls += 1) await client.predict(web.url, body());
  };
  await Promise.all(Array.from({ length: Number(options.callers) }, caller));
  const seconds = (performance.now() - since) / 1000;
  return { rate: calls / seconds, cpuUs: (1000 * ((await cpuMsOf(pid)) - cpuMsSince)) / calls };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
