import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { unkept } from '../support/broken-promises.ts';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { type Answer, KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/**
 * Run by hand. Sends very many predictions of one app, from more callers than the worker has slots, so that a queue
 * forms. No call may take a second longer than the slowest call of a typical interval (1,000 calls). `--before` is an
 * SQL statement that first brings the installation close to a limit that these calls alone would not reach, such as the
 * largest number that a counter can hold.
 */
const SLOTS = 16;
const SERVICE_MS = 10;
const CALLS_PER_INTERVAL = 1000;

const { values: options } = parseArgs({
  options: {
    admissions: { type: 'string', default: '100000' },
    callers: { type: 'string', default: '128' },
    before: { type: 'string' },
  },
});

await using _ = await setUp();
await using system = await startProcesses({
  env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000000', LOG_LEVEL: 'warn' },
});
const run = await admitMany(system);
console.log(JSON.stringify(run, undefined, 2));
process.exitCode = run.broken.length === 0 ? 0 : 1;

async function admitMany({ app: makeApp, database, provider }: System<TestProcess>) {
  provider.respond(delay(SERVICE_MS, ok()));
  const app = await makeApp();
  await app.predict(predictionBody());
  if (options.before !== undefined) await database.pool.query(options.before);
  const client = new KeepAliveClient(app.key);
  const answers: Answer[] = [];
  const since = performance.now();
  let left = Number(options.admissions);
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      answers.push(await client.predict(app.url, predictionBody()));
    }
  };
  await Promise.all(Array.from({ length: Number(options.callers) }, caller));
  const seconds = (performance.now() - since) / 1000;
  client.close();

  const slowestByInterval = Array.from({ length: Math.ceil(answers.length / CALLS_PER_INTERVAL) }, (_, n) =>
    slowestOf(answers.slice(n * CALLS_PER_INTERVAL, (n + 1) * CALLS_PER_INTERVAL)),
  );
  const typicalMs = percentile(slowestByInterval, 0.5);
  const counts = tally(answers);
  const { body: usage } = await app.usage();
  const broken = unkept([
    [counts['200'] === answers.length, 'every call is answered'],
    [
      Math.max(...slowestByInterval) < typicalMs + 1000,
      'no call takes a second longer than the slowest of a typical interval',
    ],
    [usage.reserved_units === 0 && usage.prediction_units === (counts['200'] ?? 0) + 1, 'the books balance'],
  ]);
  return {
    calls: answers.length,
    perSecond: Math.round(answers.length / seconds),
    counts,
    medianMs: roundMs(
      percentile(
        answers.map(({ tookMs }) => tookMs),
        0.5,
      ),
    ),
    slowestOfTypicalIntervalMs: roundMs(typicalMs),
    slowestMs: roundMs(Math.max(...slowestByInterval)),
    slowestInterval: slowestByInterval.indexOf(Math.max(...slowestByInterval)),
    broken,
  };
}

function slowestOf(answers: Answer[]): number {
  return Math.max(...answers.map(({ tookMs }) => tookMs));
}

function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}
