import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { setUp } from '../test/setup.ts';
import { predictionBody } from '../test/support/client.ts';
import { type Answer, KeepAliveClient, percentile } from '../test/support/keep-alive-client.ts';
import { startRedisServer } from '../test/support/redis-server.ts';
import { type System, startProcesses, type TestProcess } from '../test/support/system.ts';
import { startChild } from './child.ts';

/**
 * Measures calls at a steady rate while another program's transaction (a dump, a report) stays open. Run by hand. Each
 * printed line covers a window of `--window` seconds. Exits with 1 if the rate or the p95 of the last window is more
 * than 1.3 times worse than before the transaction began. With `--queue postgres` the queue's own tables grow as well:
 * BullMQ reads past every job that was removed while the transaction is open.
 */
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    'per-second': { type: 'string', default: '200' },
    service: { type: 'string', default: '50' },
    window: { type: 'string', default: '30' },
    queue: { type: 'string', default: 'redis' },
  },
});

const PER_SECOND = Number(options['per-second']);
const WINDOW_MS = 1000 * Number(options.window);
const WINDOWS = Math.ceil((60_000 * Number(options.minutes)) / WINDOW_MS);
const WORST_RATIO = 1.3;

interface Window {
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  others: number;
}

/** Starts calls at the rate, whatever their outcome, for one window; resolves when the last one has started. */
async function startCalls(ask: () => Promise<Answer>): Promise<Promise<Answer>[]> {
  const calls: Promise<Answer>[] = [];
  const since = performance.now();
  for (let passed = 0; passed < WINDOW_MS; passed = performance.now() - since) {
    while (calls.length < (passed * PER_SECOND) / 1000) {
      const call = ask();
      // A rejection is handled when the window is counted.
      call.catch(() => {});
      calls.push(call);
    }
    await sleep(5);
  }
  return calls;
}

async function count(calls: Promise<Answer>[]): Promise<Window> {
  const ended = await Promise.allSettled(calls);
  const times = ended.flatMap((one) =>
    one.status === 'fulfilled' && one.value.status === 200 ? [one.value.tookMs] : [],
  );
  return {
    perSecond: Math.round((times.length * 1000) / WINDOW_MS),
    p50Ms: Math.round(percentile(times, 0.5)),
    p95Ms: Math.round(percentile(times, 0.95)),
    others: ended.length - times.length,
  };
}

async function holdSnapshot(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'a report' });
  await client.connect();
  // Lifts the product's limit on idle transactions, which would end this one; pg_dump does the same.
  await client.query('set idle_in_transaction_session_timeout = 0');
  await client.query('begin isolation level repeatable read');
  // The first query takes the snapshot.
  await client.query('select count(*) from usage');
  return client;
}

/** Runs one window without the transaction, then all others with it; returns whether the last is like the first. */
async function run({ app: makeApp, database }: System<TestProcess>): Promise<boolean> {
  const app = await makeApp();
  const client = new KeepAliveClient(app.key);
  const ask = () => client.predict(app.url, predictionBody());
  const printWindow = (isHeld: boolean, window: Window) =>
    process.stdout.write(`${JSON.stringify({ held: isHeld, ...window, machineLoad: loadavg()[0] })}\n`);
  // The first window warms up, and is not counted.
  await count(await startCalls(ask));
  const first = await count(await startCalls(ask));
  printWindow(false, first);

  const holder = await holdSnapshot(database.url);
  let last = first;
  try {
    for (let n = 0; n < WINDOWS; n += 1) {
      const calls = await startCalls(ask);
      await holder.query('select 1');
      last = await count(calls);
      printWindow(true, last);
    }
  } finally {
    await holder.end();
    client.close();
  }
  const throughput = first.perSecond / last.perSecond;
  const p95 = last.p95Ms / first.p95Ms;
  process.stdout.write(`${JSON.stringify({ throughput, p95, worst: WORST_RATIO })}\n`);
  return throughput <= WORST_RATIO && p95 <= WORST_RATIO;
}

await using _ = await setUp();
await using redis = options.queue === 'redis' ? await startRedisServer() : undefined;
await using provider = await startChild('snapshot-provider', 'bench/provider.ts', {
  args: [options.service],
});
await using system = await startProcesses({
  env: {
    REDIS_URL: redis?.url ?? '',
    OPENAI_BASE_URL: `${provider.url}/v1`,
    SANDBOX_UNITS: '1000000000',
    LEASE_MS: '',
    LOG_LEVEL: 'warn',
  },
});
process.exitCode = (await run(system)) ? 0 : 1;
