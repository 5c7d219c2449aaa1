import assert from 'node:assert/strict';
import { seededRandom, seedOf } from '../../bench/memory/random.ts';
import { issueKey, signUp } from '../support/account.ts';
import { audit, type Books } from '../support/chaos/books.ts';
import {
  ACCOUNT_SCENES,
  APP_SCENES,
  act,
  type Caller,
  pursue,
  type Scene,
  syncOf,
  type World,
} from '../support/chaos/callers.ts';
import { Calls, DEADLINES, type Party } from '../support/chaos/calls.ts';
import { Stage, type StageParts } from '../support/chaos/faults.ts';
import { CountingProvider } from '../support/chaos/provider.ts';
import { runTwentyAtOnce } from '../support/in-turn.ts';
import { useOwnServer } from '../support/own-server.ts';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { SCALE } from '../support/scale.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

/** For each store of the queues. */
const TRIAL_MS = 60_000 * Number(process.env['CHAOS_MINUTES'] ?? 10 * SCALE);
const SEED = process.env['SEED'] ?? `${Date.now()}`;
const [INGRESSES, WORKERS] = [2, 3];
const [APPS, CALLERS_OF_APP] = [12, 12];
const [ACCOUNTS, CALLERS_OF_ACCOUNT] = [6, 4];
const FAULTS_AT_ONCE = 2;
/** Time in which everything must have recovered without help. */
const RECOVERED_WITHIN_MS = 60_000;
const REPEATS = 2000;
const ENV = {
  ...DEADLINES,
  LEASE_MS: '3000',
  PROVIDER_TIMEOUT_MS: '3000',
  RECOVERY_WINDOW_S: '86400',
  SANDBOX_UNITS: '1000000',
  QUOTA_TOKENS: '0',
  QUOTA_TOKENS_ALL: '0',
  SYNC_EVERY: '* * * * *',
  DATABASE_POOL: '4',
  LOG_LEVEL: 'warn',
};

const TITLE =
  'while whatever can fail does, two things at a time, each request has one outcome, and what is charged is what the provider says that it sent';

describe('chaos, on PostgreSQL alone', function () {
  this.timeout(TRIAL_MS + 900_000);
  const server = useOwnServer({ slots: 150 });
  const system = useProcesses(() => installation({ REDIS_URL: '' }));
  it(`${TITLE} #admitted #dead-worker #postgres-crash`, () =>
    endure('PostgreSQL', system, (parts) => new Stage({ ...parts, server })));
});

describeWithRedis('chaos, on Redis', function () {
  this.timeout(TRIAL_MS + 900_000);
  const server = useOwnServer({ slots: 150 });
  const redis = useRedisServer();
  const system = useProcesses(() => installation({ REDIS_URL: redis.url }));
  it(`${TITLE}, whatever becomes of jobs and wake-ups #queue-lost`, () =>
    endure('Redis', system, (parts) => new Stage({ ...parts, server, redis })));
});

const installation = (env: object) => ({
  webs: 0,
  workers: 0,
  workerEntry: ['workers/main.ts', 'all'],
  env: { ...ENV, ...env },
});

type StartStage = (parts: Omit<StageParts, 'server'>) => Stage;

async function endure(store: string, system: System<TestProcess>, startStage: StartStage): Promise<void> {
  console.log(`chaos on ${store}: SEED=${SEED}`);
  const random = (part: string) => seededRandom(seedOf(`${SEED} ${part}`));
  const provider = new CountingProvider(system.provider, random('provider'));
  const [apps, accounts]: [Party[], Party[]] = [[], []];
  const stage = startStage({ system, provider, apps, random: random('faults') });
  for (let n = 0; n < INGRESSES; n += 1) await stage.start('webs');
  for (let n = 0; n < WORKERS; n += 1) await stage.start('workers');
  while (apps.length < APPS) apps.push(await appOf(system));
  while (accounts.length < ACCOUNTS) accounts.push(await accountOf(system));
  const calls = new Calls((at, since) => stage.frozenMs(at, since));
  const world: World = { calls, ingresses: system.webs.map(({ url }) => url), random: random('callers') };
  const callersOf = (parties: Party[]): Caller[] =>
    parties.map((party) => ({ ...world, party, recorded: new Set() }));
  const accountCallers = callersOf(accounts);
  const over = AbortSignal.timeout(TRIAL_MS);
  const crowd = (callers: Caller[], each: number, scenes: Scene[]) =>
    callers.flatMap((caller) => Array.from({ length: each }, () => act(caller, scenes, over)));
  await Promise.all([
    ...Array.from({ length: FAULTS_AT_ONCE }, () => stage.run(over)),
    ...crowd(callersOf(apps), CALLERS_OF_APP, APP_SCENES),
    ...crowd(accountCallers, CALLERS_OF_ACCOUNT, ACCOUNT_SCENES),
  ]);
  await untilReady(system.webs);
  await settle(world, accountCallers);
  const hasEnded = async () => (await system.sql('select from work')).length === 0;
  await until(hasEnded, RECOVERED_WITHIN_MS).catch(() => {});
  const books = await audit(system, calls, provider, accountCallers);
  for (const death of stage.deaths()) calls.violate('died by itself', death);
  console.log(summaryOf(calls, stage, books));
  const examples = [...calls.violations].map(([rule, all]) => [rule, all.length, all.slice(0, 5)]);
  assert.deepEqual(examples, [], `SEED=${SEED}`);
}

/** Asks again for whatever has no outcome yet, for some that have one, and syncs what was recorded. */
async function settle(world: World, accountCallers: readonly Caller[]): Promise<void> {
  const { requests } = world.calls;
  const answered = requests.filter(({ outcome }) => outcome !== undefined);
  const open = requests.filter(({ outcome, kind }) => outcome === undefined && kind !== 'draft');
  await runTwentyAtOnce(open, (request) => pursue(world, request, 20));
  const every = Math.ceil(answered.length / REPEATS);
  const repeated = answered.filter(({ kind }, n) => kind !== 'draft' && n % every === 0);
  await runTwentyAtOnce(repeated, (request) => pursue(world, request, 1));
  await runTwentyAtOnce(accountCallers, (account) => pursue(account, world.calls.add(syncOf(account)), 20));
}

function untilReady(webs: readonly TestProcess[]): Promise<unknown> {
  return until(async () => {
    const answers = await Promise.all(webs.map(({ url }) => fetch(`${url}/readyz`).catch(() => undefined)));
    return answers.every((answer) => answer?.status === 200);
  }, RECOVERED_WITHIN_MS);
}

async function appOf(system: System<TestProcess>): Promise<Party> {
  const { id, key } = await system.app();
  return { id, headers: { authorization: `Bearer ${key}` } };
}

async function accountOf(system: System<TestProcess>): Promise<Party> {
  const person = await signUp(system);
  return { id: person.id, headers: { 'x-service-api-key': await issueKey(person) } };
}

function summaryOf(calls: Calls, stage: Stage, books: Books): string {
  const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
  const rows = {
    predictions: calls.requests.reduce((all, { predictions }) => all + predictions, 0),
    answers: sum(calls.ends),
    faults: sum(stage.counts),
    ...books,
    'latest answer, ms after its deadline': Math.round(calls.latestMs),
    'answers more than a second after it': calls.lateCount,
    violations: [...calls.violations.values()].reduce((all, { length }) => all + length, 0),
  };
  const lines = [
    ...Object.entries(rows),
    ...[...stage.counts].sort(),
    ...[...calls.ends].sort(),
    ...stage.loggedErrors(),
  ];
  return lines.map(([name, value]) => `${String(value).padStart(8)}  ${name}`).join('\n');
}
