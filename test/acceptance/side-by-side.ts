import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { AppClient } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { delay, ok, startFakeProvider } from '../support/fake-provider.ts';
import { runTwentyAtOnce } from '../support/in-turn.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { type Habit, PersistentCaller, type RequestOutcome } from '../support/persistent-caller.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { COMMON_ENV, type TestProcess } from '../support/system.ts';
import { until } from '../support/until.ts';
import { thisVersion, versionOf } from '../support/version.ts';

/** By hand: the version of a commit and this checkout serve side by side, through the migration, under steady load. */
const { values: options } = parseArgs({
  options: {
    old: { type: 'string', default: 'HEAD' },
    'per-second': { type: 'string', default: '50' },
    /** Seconds per phase. */
    seconds: { type: 'string', default: '10' },
    queue: { type: 'string', default: 'postgres' },
  },
});

const LISTED_MAX = 10;
const SERVICE_MS = { min: 30, max: 150 };
const DOCUMENTED_END =
  /^(200|499 prediction_cancelled|409 request_in_flight|503 (service_unavailable|overloaded)|504 prediction_timeout)$/;
/** Error codes of a connection that a stopping ingress refuses, or closes while it is kept alive. */
const CONNECTION_LOST = /^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET|EPIPE)$/;

interface Phase {
  name: string;
  calls: number;
  p50Ms: number;
  p95Ms: number;
  slowestMs: number;
}

async function sideBySide(databaseUrl: string, redisUrl: string): Promise<boolean> {
  const provider = await startFakeProvider();
  const [previous, next] = [await versionOf(options.old), thisVersion()];
  const processes: TestProcess[] = [];
  const env = {
    ...COMMON_ENV,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    OPENAI_BASE_URL: provider.url,
    RECOVERY_WINDOW_S: '7200',
    SANDBOX_UNITS: '1000000',
  };
  const start = async (version: typeof next, kind: 'web' | 'worker') => {
    const started = await version.start(kind, env);
    processes.push(started);
    return started;
  };
  try {
    provider.respond((response, call) =>
      delay(SERVICE_MS.min + (SERVICE_MS.max - SERVICE_MS.min) * Math.random(), ok())(response, call),
    );
    await previous.migrate(env);
    const [oldWeb, oldWorker] = [await start(previous, 'web'), await start(previous, 'worker')];
    const args = ['app', 'create', '--name', 'beside', '--redirect-uri', 'https://a.example', '--json'];
    const { app_id: id, key } = JSON.parse(await previous.admin(args, env)) as {
      app_id: string;
      key: string;
    };
    const caller = new PersistentCaller(id, key);
    caller.ingresses = [oldWeb];
    const asked: Promise<RequestOutcome>[] = [];
    const phases: { name: string; asked: Promise<RequestOutcome>[] }[] = [];
    const load = setInterval(
      () => asked.push(caller.ask(habit(), 100 * Math.random())),
      1000 / Number(options['per-second']),
    );
    const phase = async (name: string, work: () => Promise<void>) => {
      const first = asked.length;
      const since = performance.now();
      await work();
      const workedMs = Math.round(performance.now() - since);
      await sleep(1000 * Number(options.seconds));
      phases.push({ name: `${name} (${workedMs} ms)`, asked: asked.slice(first) });
    };
    let newWeb = oldWeb;
    await phase('old alone', async () => {});
    await phase('migrated by the new version', () => next.migrate(env));
    await phase('new worker and new ingress next to the old ones', async () => {
      await start(next, 'worker');
      newWeb = await start(next, 'web');
      caller.ingresses = [oldWeb, newWeb];
    });
    await phase('old worker stopped', () => oldWorker.stop('SIGTERM'));
    await phase('old ingress stopped', async () => {
      // A balancer notices after some refused connections; until then callers retry.
      setTimeout(() => {
        caller.ingresses = [newWeb];
      }, 500);
      await oldWeb.stop('SIGTERM');
    });
    clearInterval(load);
    const outcomes = await Promise.all(asked);
    const summaries = await Promise.all(
      phases.map(async (one) => phaseOf(one.name, await Promise.all(one.asked))),
    );
    const isKept = await checkAndReport(outcomes, summaries, caller, new AppClient(id, key, newWeb.url), {
      providerCalls: provider.calls.length,
      exits: [oldWorker, oldWeb].map(({ child }) => child.exitCode ?? child.signalCode),
    });
    if (!isKept) for (const { log } of processes) process.stderr.write(warningsOf(log));
    return isKept;
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
    await provider.close();
    await previous.remove();
  }
}

function warningsOf(log: string): string {
  const lines = log.split('\n').filter((line) => /"level":[456]0/.test(line));
  return `${lines.slice(-LISTED_MAX).join('\n')}\n---\n`;
}

function phaseOf(name: string, outcomes: RequestOutcome[]): Phase {
  const took = outcomes.map(({ tookMs }) => tookMs);
  return {
    name,
    calls: took.length,
    p50Ms: Math.round(percentile(took, 0.5)),
    p95Ms: Math.round(percentile(took, 0.95)),
    slowestMs: Math.round(Math.max(...took)),
  };
}

function habit(): Habit {
  const mood = Math.random();
  if (mood < 0.15) return 'again';
  if (mood < 0.25) return 'at once';
  return mood < 0.35 ? 'cancel' : 'plain';
}

function detailsOf({ body, ends, last, twin, tookMs }: RequestOutcome) {
  const answers = { last: last?.text, twin: twin?.text, tookMs: Math.round(tookMs) };
  return { requestId: body.request_id, ends: ends.slice(-LISTED_MAX).join(', '), ...answers };
}

async function checkAndReport(
  outcomes: RequestOutcome[],
  phases: Phase[],
  caller: PersistentCaller,
  app: AppClient,
  seen: { providerCalls: number; exits: (number | string | null)[] },
): Promise<boolean> {
  const answered = outcomes.filter(({ last }) => last?.status === 200);
  const repeated = await runTwentyAtOnce(outcomes, async ({ body, last }) => {
    const reply = await caller.repeat(body);
    return reply?.status === last?.status && reply?.text === last?.text;
  });
  const usage = await until(async () => {
    const { body } = await app.usage();
    return body.reserved_units === 0 && body;
  }).catch(async () => (await app.usage()).body);
  const ends = outcomes.flatMap((one) => one.ends);
  const counts = Object.fromEntries(
    [...Map.groupBy(ends, (end) => end)].map(([end, of]) => [end, of.length]),
  );
  const checks = {
    'every request came to an answer that stays': outcomes.every(({ last }) => last !== undefined),
    'each one is 200, or 499 where it was cancelled': outcomes.every(
      ({ last, cancelled }) => last?.status === 200 || (cancelled && last?.status === 499),
    ),
    'every answer on the way is a documented one': Object.keys(counts).every(
      (end) => DOCUMENTED_END.test(end) || CONNECTION_LOST.test(end),
    ),
    'the same bytes at the other ingress': outcomes.every(
      ({ last, twin }) => twin === undefined || (twin.status === last?.status && twin.text === last?.text),
    ),
    'the same bytes at the end from the new ingress': repeated.every(Boolean),
    'each suggested answer is billed once': usage.prediction_units === answered.length,
    'nothing stays reserved': usage.reserved_units === 0,
    'the old processes exited with 0': seen.exits.every((exit) => exit === 0),
  };
  const unfinished = outcomes.filter(({ last, cancelled }) => last?.status !== 200 && !cancelled);
  const unlike = outcomes.filter((_, n) => !repeated[n]);
  const figures = {
    unfinished: unfinished.slice(0, LISTED_MAX).map(detailsOf),
    unlike: unlike.slice(0, LISTED_MAX).map(detailsOf),
    slowest: outcomes
      .toSorted((one, other) => other.tookMs - one.tookMs)
      .slice(0, LISTED_MAX)
      .map(detailsOf),
    requests: outcomes.length,
    suggested: answered.length,
    cancelled: outcomes.filter(({ last }) => last?.status === 499).length,
    units: usage.prediction_units,
    reserved: usage.reserved_units,
    ...seen,
    ends: counts,
    phases,
  };
  process.stdout.write(`${JSON.stringify({ ...figures, checks }, undefined, 2)}\n`);
  return Object.values(checks).every(Boolean);
}

await using _ = await setUp();
await using database = await createDatabase({ empty: true });
await using redis = options.queue === 'redis' ? await startRedisServer() : undefined;
process.exitCode = (await sideBySide(database.url, redis?.url ?? '')) ? 0 : 1;
