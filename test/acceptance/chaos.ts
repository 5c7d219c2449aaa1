import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import type { AppClient } from '../support/client.ts';
import { delay, hang, ok, reset, type Step, status } from '../support/fake-provider.ts';
import { endOf, tally } from '../support/flood.ts';
import { runTwentyAtOnce } from '../support/in-turn.ts';
import { type LoadCall, startLoad } from '../support/load.ts';
import { type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { type Fates, startUnreliableRedis } from '../support/unreliable-redis.ts';

/**
 * By hand: `bin/node test/acceptance/chaos.ts`. Runs predictions, one after another for each caller, while wake-ups are
 * dropped, duplicated and delayed, Redis is flushed and workers are killed. Afterwards charges and answers must match.
 * Exits with 1 if a promise was broken.
 */

const FLUSH_INTERVAL_MS = 5000;
const KILL_INTERVAL_MS = 3000;
const DEADLINE_MS = 10_000;
const LATE_MS = DEADLINE_MS + 1000;
const WORKERS = 3;
/** Outcomes that this load may have, out of those in `docs/openapi.json`. */
const DOCUMENTED_ENDS = [
  '200',
  '502 provider_failed',
  '503 service_unavailable',
  '503 overloaded',
  '503 provider_rate_limited',
  '504 prediction_timeout',
];

const { values: options } = parseArgs({
  options: {
    predictions: { type: 'string', default: '10000' },
    callers: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '1200' },
  },
});

async function runChaos(): Promise<boolean> {
  await using _ = await setUp();
  await using redis = await startRedisServer();
  await using proxy = await startUnreliableRedis(redis.url);
  await using system = await startProcesses({
    webs: 2,
    workers: WORKERS,
    env: {
      REDIS_URL: proxy.url,
      LEASE_MS: '3000',
      PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}`,
      RECOVERY_WINDOW_S: '7200',
      SANDBOX_UNITS: '1000000',
      LOG_LEVEL: 'warn',
    },
  });
  return await runLoadAmidFaults(system, redis, proxy.fates);
}

async function runLoadAmidFaults(
  system: System<TestProcess>,
  redis: RedisServer,
  fates: Fates,
): Promise<boolean> {
  const app = await system.app();
  let askCount = 0;
  const ask = (body: object) => {
    const at = system.webs[askCount % system.webs.length] ?? app;
    askCount += 1;
    return app.predict(body, { at });
  };
  system.provider.respond(moodyStep);
  const since = performance.now();
  const load = startLoad(ask, { callers: Number(options.callers), most: Number(options.predictions) });
  const loadEnd = new AbortController();
  const chaos = { flushes: 0, kills: 0 };
  const loops = [
    repeatEvery(FLUSH_INTERVAL_MS, loadEnd.signal, async () => {
      await redis.flush();
      chaos.flushes += 1;
    }),
    repeatEvery(KILL_INTERVAL_MS, loadEnd.signal, async () => {
      const victim = system.workers[chaos.kills % WORKERS];
      if (victim === undefined) return;
      await victim.stop('SIGKILL');
      system.workers[chaos.kills % WORKERS] = system.launch('worker');
      system.workers.pop();
      chaos.kills += 1;
    }),
    repeatEvery(FLUSH_INTERVAL_MS, loadEnd.signal, async () => {
      const seconds = Math.round((performance.now() - since) / 1000);
      process.stderr.write(
        `${seconds} s: ${JSON.stringify({ ...tally(load.calls.map(({ reply }) => reply)), ...chaos })}\n`,
      );
    }),
  ];
  await Promise.race([load.done, sleep(1000 * Number(options.seconds), undefined, { ref: false })]);
  const calls = await load.stop();
  const seconds = Math.round((performance.now() - since) / 1000);
  loadEnd.abort();
  await Promise.all(loops);

  process.stderr.write('over; asking again for what did not end with 200\n');
  system.provider.respond(delay(30, ok()));
  const books = await compareCharges(system, app, calls, ask);
  const slowestMs = Math.round(Math.max(...calls.map(({ reply }) => reply.tookMs)));
  const checks = {
    ...books.checks,
    'every call ended with a documented status': calls.every(({ reply }) =>
      DOCUMENTED_ENDS.includes(endOf(reply)),
    ),
    'every 503 says when to come again': calls.every(
      ({ reply }) => reply.status !== 503 || Number(reply.headers.get('retry-after')) >= 1,
    ),
    'none ended later than its deadline and a second': slowestMs <= LATE_MS,
    'the ingresses never died': system.webs.every(
      ({ child }) => child.exitCode === null && !child.signalCode,
    ),
  };
  const times = calls.map(({ reply }) => reply.tookMs).sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => Math.round(times[Math.floor(share * times.length)] ?? 0));
  const result = {
    predictions: calls.length,
    seconds,
    ...chaos,
    wakeUps: fates,
    providerCalls: system.provider.calls.length,
    ends: tally(calls.map(({ reply }) => reply)),
    tookMs: { p50, p99, slowest: slowestMs },
    books: books.figures,
    checks,
  };
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  return Object.values(checks).every(Boolean);
}

async function compareCharges(
  system: System<TestProcess>,
  app: AppClient,
  calls: readonly LoadCall[],
  ask: (body: object) => ReturnType<AppClient['predict']>,
) {
  const { rows } = await system.database.pool.query<{ live: number; suggested: number }>(
    `select (select count(*) from work)::int as live,
            (select count(*) from history where state = 'suggested')::int as suggested`,
  );
  const { body: before } = await app.usage();
  const suggestedCalls = calls.filter(({ reply }) => isSuggested(reply));
  const otherCalls = calls.filter(({ reply }) => reply.status !== 200);
  const again = await runTwentyAtOnce(otherCalls, ({ body }) => ask(body));
  const recovered = again.filter((reply) => isSuggested(reply));
  const replayed = recovered.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
  const { body: after } = await app.usage();
  const sample = suggestedCalls.filter((_, n) => n % Math.ceil(suggestedCalls.length / 500) === 0);
  const repeated = await runTwentyAtOnce(
    sample,
    async ({ body, reply }) => (await ask(body)).text === reply.text,
  );
  const { body: atLast } = await app.usage();
  return {
    figures: {
      row: rows[0],
      seenSuggested: suggestedCalls.length,
      settledUnseen: replayed.length,
      recoveredByAskingAgain: recovered.length,
      askedAgain: otherCalls.length,
      unitsBefore: before.prediction_units,
      unitsAfter: after.prediction_units,
      reserved: [before.reserved_units, after.reserved_units, atLast.reserved_units],
      repeated: repeated.length,
    },
    checks: {
      'no row is live': rows[0]?.live === 0,
      'reserved_units is 0': [before, after, atLast].every(({ reserved_units }) => reserved_units === 0),
      'units are the suggested answers, seen or stored for a repeat':
        before.prediction_units === suggestedCalls.length + replayed.length &&
        before.prediction_units === rows[0]?.suggested,
      'every call that failed can be asked again': again.every((reply) => reply.status === 200),
      'units are the distinct suggested answers when all were asked again':
        after.prediction_units === suggestedCalls.length + recovered.length,
      'answers are the same bytes when asked for again, and cost nothing':
        repeated.every(Boolean) && atLast.prediction_units === after.prediction_units,
    },
  };
}

const moodyStep: Step = (response, call) => {
  const mood = Math.random();
  return delay(30 + 70 * Math.random(), stepOf(mood))(response, call);
};

function stepOf(mood: number): Step {
  if (mood < 0.02) return status(500);
  if (mood < 0.03) return status(429);
  if (mood < 0.04) return reset();
  if (mood < 0.05) return hang();
  if (mood < 0.1) return ok({ continuation: '' });
  return ok();
}

async function repeatEvery(ms: number, over: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!over.aborted) {
    const woken = await sleep(ms, true, { signal: over }).catch(() => false);
    if (woken) await work();
  }
}

function isSuggested({ status: code, body }: LoadCall['reply']): boolean {
  return code === 200 && body.usage.prediction_units === 1;
}

process.exitCode = (await runChaos()) ? 0 : 1;
