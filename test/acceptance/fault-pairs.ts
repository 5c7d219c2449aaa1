import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { unkept } from '../support/broken-promises.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { administer } from '../support/database.ts';
import { delay, ok, type Step, status } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { runTwentyAtOnce } from '../support/in-turn.ts';
import { freeze, OUTAGE_INSTALLATION, takeDown } from '../support/outage.ts';
import { type OwnServer, startOwnServer } from '../support/own-server.ts';
import { type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { until, untilDone } from '../support/until.ts';

/**
 * By hand: forty callers wait while two things fail at once. `bin/node test/acceptance/fault-pairs.ts --only frozen`
 * runs the pairs whose names contain that word; exits with 1 if a promise was broken.
 */
const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '1' } },
});

const CALLERS = 40;
const DEADLINE_MS = 12_000;
const LATE_MS = DEADLINE_MS + 1000;
/** Time by which everything must have recovered without help. */
const RECOVERED_WITHIN_MS = 30_000;
/** Limits of the provider's service time: some answers arrive during the faults, some after them. */
const SERVICE_MS = { min: 500, max: 5000 };
/** Longer than a leader waits between two renewals. */
const RENEWAL_WAIT_MS = 1500;
const DOCUMENTED_ENDS = [
  '200',
  '499 prediction_cancelled',
  '503 service_unavailable',
  '503 overloaded',
  '503 provider_rate_limited',
  '504 prediction_timeout',
];

interface Scene {
  system: System<TestProcess>;
  server: OwnServer;
  redis: RedisServer;
  leader: TestProcess;
  /** Ends a process other than the leader, and starts a new one when it has exited. */
  replace(kind: 'webs' | 'workers', signal: NodeJS.Signals): Promise<void>;
  /** Cancels every second call, repeating each cancel until its answer says how the call ended. */
  cancelHalf(): Promise<void>;
}

const PAIRS: Record<string, (scene: Scene) => Promise<unknown>> = {
  'a worker is killed while Redis is flushed': ({ redis, replace }) =>
    Promise.all([replace('workers', 'SIGKILL'), redis.flush()]),
  'a worker is killed while Redis is silent': ({ redis, replace }) =>
    Promise.all([redis.pause(4000), replace('workers', 'SIGKILL')]),
  'a worker is killed while PostgreSQL crashes': ({ server, replace }) =>
    Promise.all([takeDown(server, 1500, 'immediate'), replace('workers', 'SIGKILL')]),
  'a worker stops while PostgreSQL is down': ({ server, replace }) =>
    Promise.all([takeDown(server, 3000, 'fast'), replace('workers', 'SIGTERM')]),
  'an ingress stops while Redis is down': ({ redis, replace }) =>
    Promise.all([downFor(redis, 3000), replace('webs', 'SIGTERM')]),
  'an ingress is killed with a worker': ({ replace }) =>
    Promise.all([replace('webs', 'SIGKILL'), replace('workers', 'SIGKILL')]),
  'an ingress is frozen while PostgreSQL restarts': ({ system, server }) =>
    Promise.all([freeze(system.webs[0], 4000), takeDown(server, 2000, 'fast')]),
  'an ingress is frozen while PostgreSQL crashes': ({ system, server }) =>
    Promise.all([freeze(system.webs[0], 4000), takeDown(server, 2000, 'immediate')]),
  'the leader is frozen while a worker is killed': ({ leader, replace }) =>
    Promise.all([freeze(leader, 4000), replace('workers', 'SIGKILL')]),
  'the leader is frozen while PostgreSQL crashes': ({ leader, server }) =>
    Promise.all([freeze(leader, 4000), takeDown(server, 2000, 'immediate')]),
  'all workers are frozen while Redis is flushed': ({ system, redis }) =>
    Promise.all([...system.workers.map((worker) => freeze(worker, 4000)), redis.flush()]),
  'Redis is down while PostgreSQL crashes': ({ redis, server }) =>
    Promise.all([downFor(redis, 3000), takeDown(server, 2000, 'immediate')]),
  'calls are cancelled while PostgreSQL is down': ({ server, cancelHalf }) =>
    Promise.all([takeDown(server, 2500, 'fast'), cancelHalf()]),
  'calls are cancelled while PostgreSQL crashes': ({ server, cancelHalf }) =>
    Promise.all([takeDown(server, 500, 'immediate'), cancelHalf()]),
  'calls are cancelled while a worker is killed': ({ replace, cancelHalf }) =>
    Promise.all([replace('workers', 'SIGKILL'), cancelHalf()]),
  'the provider refuses everything while a worker is killed': async ({ system, replace }) => {
    system.provider.respond(status(429, { 'retry-after': '1' }));
    await replace('workers', 'SIGKILL');
    // Another worker takes over, and asks the provider, within a lease and a second.
    await sleep(7000);
    system.provider.respond(slowStep);
  },
  'Redis is full while a worker is killed': ({ redis, replace }) =>
    Promise.all([fullFor(redis, 3000), replace('workers', 'SIGKILL')]),
  'PostgreSQL takes no writes while an ingress is killed': ({ server, replace }) =>
    Promise.all([readOnlyFor(server, 3000), replace('webs', 'SIGKILL')]),
  'PostgreSQL is down past the deadline while Redis is flushed': ({ redis, server }) =>
    Promise.all([takeDown(server, DEADLINE_MS + 2000, 'fast'), redis.flush()]),
};

const slowStep: Step = (response, call) => {
  const { min, max } = SERVICE_MS;
  return delay(min + (max - min) * Math.random(), ok())(response, call);
};

type Body = ReturnType<typeof predictionBody>;

interface Answer {
  status: number;
  code: string | undefined;
  text: string;
  /** True unless the answer lacks a Retry-After that it needs. */
  helpful: boolean;
  tookMs: number;
}

async function ask(app: AppClient, body: Body, at: { url: string }): Promise<Answer> {
  const since = performance.now();
  try {
    const {
      status: number,
      code,
      text,
      headers,
      tookMs,
    } = await app.predict(body, {
      at,
      headers: { prefer: 'wait' },
    });
    const helpful = number !== 503 || Number(headers.get('retry-after')) >= 1;
    return { status: number, code, text, helpful, tookMs };
  } catch {
    return { status: 0, code: 'broken', text: '', helpful: true, tookMs: performance.now() - since };
  }
}

async function runPair(
  fail: (scene: Scene) => Promise<unknown>,
  installation: Pick<Scene, 'system' | 'server' | 'redis'>,
) {
  const { system } = installation;
  const { provider, webs, workers } = system;
  const app = await untilDone(() => system.app());
  await until(async () => {
    const warm = await Promise.all(webs.map((at) => ask(app, predictionBody(), at)));
    return warm.every((answer) => answer.status === 200);
  }, RECOVERED_WITHIN_MS);
  const before = await usageOf(app, webs);
  const leader = await findLeader(system);
  provider.reset();
  provider.respond(slowStep);
  const bodies = Array.from({ length: CALLERS }, () => predictionBody());
  const calls = bodies.map((body, n) => ask(app, body, webs[n % webs.length] ?? app));
  await provider.called(CALLERS, RECOVERED_WITHIN_MS);

  const killed = new Set<TestProcess>();
  const cancelAnswers = new Map<string, string>();
  await fail({
    ...installation,
    leader,
    async replace(kind, signal) {
      const old = system[kind].find((one) => one !== leader);
      if (old === undefined) throw new Error('nobody to replace');
      system[kind].splice(system[kind].indexOf(old), 1);
      if (signal === 'SIGKILL') killed.add(old);
      await old.stop(signal);
      await system.launch(kind === 'webs' ? 'web' : 'worker').ready();
    },
    async cancelHalf() {
      const cancels = bodies
        .filter((_, n) => n % 2 === 0)
        .map(async ({ request_id, user_id }, n) => {
          const { body } = await until(async () => {
            const reply = await app.cancel(request_id, user_id, { at: webs[n % webs.length] ?? app });
            if (reply.status !== 200 && reply.code !== 'service_unavailable')
              throw new Error(`a cancel was answered ${reply.status} ${reply.text}`);
            return reply.status === 200 && reply;
          }, RECOVERED_WITHIN_MS);
          cancelAnswers.set(request_id, `${body.status} ${body.prediction_units}`);
        });
      await Promise.all(cancels);
    },
  });
  const answers = await Promise.all(calls);
  provider.respond(ok());
  const at = webs[0] ?? app;
  const again = await runTwentyAtOnce(bodies, (body) => finalAnswerTo(app, body, at));
  const usage = await until(async () => {
    const now = await usageOf(app, webs);
    return now.reserved_units === 0 && now;
  }, RECOVERED_WITHIN_MS).catch(() => usageOf(app, webs));
  const { rows } = await system.database.pool.query<{ suggested: number; live: number }>(
    `select (select count(*) from history where party = $1 and state = 'suggested')::int as suggested,
            (select count(*) from work)::int as live`,
    [app.id],
  );
  const succeeded = again.filter((answer) => answer.status === 200).length;
  const units = usage.prediction_units - before.prediction_units;
  const slowestMs = Math.round(Math.max(...answers.map(({ tookMs }) => tookMs)));
  const ends = tally(answers);
  const broken = unkept([
    [
      Object.keys(ends).every(
        (end) => DOCUMENTED_ENDS.includes(end) || (end === '0 broken' && killed.size > 0),
      ),
      'every end is a documented one',
    ],
    [answers.every(({ helpful }) => helpful), 'a 503 says when to come again'],
    [slowestMs <= LATE_MS, 'no call ends later than its deadline and a second'],
    [
      answers.every((answer, n) => answer.status !== 200 || answer.text === again[n]?.text),
      'an answer stays the same',
    ],
    [
      bodies.every(({ request_id }, n) => {
        const cancelAnswer = cancelAnswers.get(request_id);
        if (cancelAnswer === undefined) return again[n]?.status === 200;
        if (cancelAnswer === 'cancelled 0') return again[n]?.status === 499 && answers[n]?.status !== 200;
        return again[n]?.status === 200;
      }),
      'what failed succeeds when asked again, what was cancelled stays cancelled',
    ],
    [units === succeeded, 'each answer costs one unit, and nothing else does'],
    [rows[0]?.suggested === before.prediction_units + units, 'each answer is in the history once'],
    [usage.reserved_units === 0 && rows[0]?.live === 0, 'nothing stays reserved or live'],
    [
      [...webs, ...workers].every(({ child }) => child.exitCode === null && child.signalCode === null),
      'no other process ends',
    ],
  ]);
  return {
    ends,
    askedAgain: tally(again),
    cancels: Object.fromEntries(
      [...Map.groupBy(cancelAnswers.values(), String)].map(([k, v]) => [k, v.length]),
    ),
    slowestMs,
    providerCalls: provider.calls.length,
    units,
    reserved: usage.reserved_units,
    broken,
  };
}

async function finalAnswerTo(app: AppClient, body: Body, at: { url: string }): Promise<Answer> {
  let last: Answer | undefined;
  await until(async () => {
    last = await ask(app, body, at);
    return last.status === 200 || last.status === 499;
  }, RECOVERED_WITHIN_MS).catch(() => {});
  if (last === undefined) throw new Error('nothing was asked');
  return last;
}

function usageOf(app: AppClient, [at]: TestProcess[]) {
  return untilDone(async () => {
    const reply = await app.request<Awaited<ReturnType<AppClient['usage']>>['body']>(
      'GET',
      '/v1/usage',
      undefined,
      { at: at ?? app },
    );
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body;
  });
}

/** Finds the leader: while it is frozen, nobody renews the leader's lease. */
async function findLeader({ database, webs, workers }: System<TestProcess>): Promise<TestProcess> {
  const readLeaseEnd = async () =>
    (await database.pool.query<{ until: Date }>('select until from leases')).rows[0]?.until.getTime();
  for (const one of [...workers, ...webs]) {
    one.kill('SIGSTOP');
    const at = await readLeaseEnd();
    await sleep(RENEWAL_WAIT_MS);
    const isLeader = (await readLeaseEnd()) === at;
    one.kill('SIGCONT');
    if (isLeader) return one;
  }
  throw new Error('nobody leads');
}

async function downFor(redis: RedisServer, ms: number): Promise<void> {
  await redis.kill();
  await sleep(ms);
  await redis.start();
}

async function fullFor(redis: RedisServer, ms: number): Promise<void> {
  await redis.fill(true);
  await sleep(ms);
  await redis.fill(false);
}

/** Makes the server read-only for a while, as after a failover. */
async function readOnlyFor({ url }: OwnServer, ms: number): Promise<void> {
  const set = async (mode: 'on' | 'off') => {
    await administer(url, `alter system set default_transaction_read_only = ${mode}`);
    await administer(url, 'select pg_reload_conf()');
  };
  await set('on');
  await sleep(ms);
  await set('off');
}

await using _ = await setUp();
await using server = await startOwnServer();
await using redis = await startRedisServer();
await using system = await startProcesses({
  ...OUTAGE_INSTALLATION,
  env: {
    ...OUTAGE_INSTALLATION.env,
    REDIS_URL: redis.url,
    PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}`,
    LOG_LEVEL: 'warn',
  },
});
let isKept = true;
for (let round = 1; round <= Number(options.rounds); round += 1) {
  for (const [pair, fail] of Object.entries(PAIRS)) {
    if (!pair.includes(options.only)) continue;
    const run = await runPair(fail, { system, server, redis });
    isKept &&= run.broken.length === 0;
    process.stdout.write(`${JSON.stringify({ round, pair, ...run })}\n`);
  }
}
process.exitCode = isKept ? 0 : 1;
