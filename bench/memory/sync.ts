import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../shared/db/orm.ts';
import { recallPhrases } from '../../shared/db/stores/memory/phrases.ts';
import { createLog } from '../../shared/log.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { percentile } from '../../test/support/keep-alive-client.ts';
import { install, startProduct } from '../installation.ts';
import { openPostgres } from '../stores.ts';
import { Corpus } from './corpus.ts';
import { Person } from './person.ts';

/**
 * Measures one account with a long history: how many events per second its syncs take into memory over HTTP, and how
 * long it then takes to look up the continuations of a draft and to get a context.
 */
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    lookups: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
});

const BATCH = 1000;
/** Maximum number of events that one sync looks at. */
const SYNC_LIMIT = 100_000;
const EVENTS_PER_SESSION = 200;
const TIMEOUT_MS = '600000';
const WARM_UP_RUNS = 20;

await using resources = new AsyncDisposableStack();
const postgres = resources.use(await openPostgres());
const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
const env = { DATABASE_URL: databaseUrl, SYNC_TIMEOUT_MS: TIMEOUT_MS };
const { web } = await startProduct(resources, {
  name: 'sync',
  providerUrl: 'http://127.0.0.1:9',
  queuePrefix: 'bench',
  pool: 'memory',
  env: { web: env, worker: env },
});
const database = { url: databaseUrl, directUrl: databaseUrl, poolSize: 1 };
const { pool, close } = await openDatabase({ database }, createLog('bench', 'warn'), 'forecue bench');
resources.defer(close);

const corpus = new Corpus(Number(options.seed));
const person = await Person.signUp(web.url);
const start = Date.now() - 365 * 86_400_000;
let eventCount = 0;

function nextEvent() {
  const n = eventCount;
  eventCount += 1;
  const common = {
    id: randomUUID(),
    occurred_at: new Date(start + n * 1000).toISOString(),
    agent: 'coder',
    source: 'bench',
    session_id: `s${Math.floor(n / EVENTS_PER_SESSION)}`,
  };
  const text = corpus.sentence();
  return { ...common, type: n % 2 === 0 ? 'user.message' : 'agent.message', text };
}

const events = Number(options.events);
let syncMs = 0;
for (let synced = 0; synced < events; ) {
  const batchSize = Math.min(SYNC_LIMIT, events - synced);
  for (let n = 0; n < batchSize; n += BATCH)
    await person.record(Array.from({ length: Math.min(BATCH, batchSize - n) }, nextEvent));
  const since = performance.now();
  const { created } = await person.request<{ created: number }>('POST', '/api/memory/sync/', {
    limit: batchSize,
  });
  const took = performance.now() - since;
  if (created !== batchSize) throw new Error(`${created} of ${batchSize} events became rows`);
  syncMs += took;
  synced += batchSize;
  process.stderr.write(`${synced} rows: ${Math.round((1000 * batchSize) / took)} events/s\n`);
}

/** Times many runs, in milliseconds. Leaves out the first ones, in which statements are planned. */
async function timeRuns(run: (n: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let n = -WARM_UP_RUNS; n < Number(options.lookups); n += 1) {
    const since = performance.now();
    await run(n + WARM_UP_RUNS);
    if (n >= 0) took.push(performance.now() - since);
  }
  return took;
}

// Drafts of all lengths, from one letter to almost the whole sentence.
const lookups = await timeRuns((n) => {
  const sentence = corpus.sentence();
  const draft = sentence.slice(0, 1 + Math.floor((sentence.length * (n % 97)) / 97));
  return recallPhrases(pool, 'account', person.id, draftEndOf(draft).tails, undefined);
});
const contexts = await timeRuns(() => {
  const { question: query } = corpus.pair('the same words');
  return person.request('POST', '/api/memory/context/', { query, recency_minutes: null });
});
const medianAndP95 = (took: number[]) => [0.5, 0.95].map((at) => Number(percentile(took, at).toFixed(2)));
process.stdout.write(
  `${JSON.stringify({
    rows: events,
    eventsPerSecond: Math.round((1000 * events) / syncMs),
    lookupMs: medianAndP95(lookups),
    contextMs: medianAndP95(contexts),
  })}\n`,
);
