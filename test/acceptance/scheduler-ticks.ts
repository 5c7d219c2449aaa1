import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requestKey } from '../../shared/domain/work.ts';
import { setUp } from '../setup.ts';
import { signUp } from '../support/account.ts';
import { bareEnvironment } from '../support/environment.ts';
import { firingsOf, noteFirings } from '../support/firings.ts';
import { event, post } from '../support/recording.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { type System, startProcesses, TestProcess } from '../support/system.ts';
import { until } from '../support/until.ts';

/**
 * By hand: 4 scheduler processes are restarted, 20 times in all (alternating SIGKILL and SIGTERM), during a minute with
 * a tick each second, while an account keeps recording: `bin/node test/acceptance/scheduler-ticks.ts [--redis]`. Exits
 * with 1 if a tick did not fire exactly once, or admitted more than one job of the account.
 */
const SCHEDULERS = 4;
const RECORD_EVERY_MS = 100;

const { values: options } = parseArgs({
  options: {
    redis: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    restarts: { type: 'string', default: '20' },
  },
});

async function run(): Promise<boolean> {
  await using _ = await setUp();
  await using redis = options.redis ? await startRedisServer() : undefined;
  await using system = await startProcesses({
    workerEntry: ['workers/main.ts', 'scheduler'],
    workers: 0,
    env: {
      SYNC_EVERY: '* * * * * *',
      LEASE_MS: '5000',
      LOG_LEVEL: 'warn',
      ...(redis && { REDIS_URL: redis.url }),
    },
  });
  await using memory = startMemoryWorker(system);
  await memory.ready();
  await noteFirings(system.database);
  return await restartThrough(system);
}

async function restartThrough(system: System<TestProcess>): Promise<boolean> {
  await Promise.all(Array.from({ length: SCHEDULERS }, () => system.startWorker()));
  const person = await signUp(system);
  const session_id = randomUUID();
  let aliveAt = performance.now();
  let stalledMs = 0;
  const recording = setInterval(() => {
    stalledMs = Math.max(stalledMs, performance.now() - aliveAt - RECORD_EVERY_MS);
    aliveAt = performance.now();
    void post(person, [event({ session_id, type: 'note', text: 'x' })]).catch(() => {});
  }, RECORD_EVERY_MS);
  const counts = () => firingsOf(system.database);
  await until(async () => (await counts()).length > 2, 20_000);
  const from = (await counts()).at(-1)?.tick ?? 0;
  const restarts = Number(options.restarts);
  const seconds = Number(options.seconds);
  const startedAt = performance.now();
  const starts: Promise<unknown>[] = [];
  for (let nth = 0; nth < restarts; nth += 1) {
    await sleep(Math.max(0, startedAt + ((nth + 0.5) * seconds * 1000) / restarts - performance.now()));
    // Waits for the earlier starts: if a busy machine started schedulers more slowly than they end, none would be left.
    await Promise.all(starts.slice(0, -1));
    const victim = system.workers.shift();
    await victim?.stop(nth % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    // The new scheduler may be stopped before it is ready.
    starts.push(system.startWorker().catch(() => {}));
  }
  await sleep(Math.max(0, startedAt + seconds * 1000 - performance.now()));
  await Promise.all(starts);
  const firings = (await counts()).filter(({ tick }) => tick > from);
  clearInterval(recording);
  const to = firings.at(-1)?.tick ?? from;
  const byTick = new Map(firings.map((one) => [one.tick, one]));
  const ticks = Array.from({ length: (to - from) / 1000 }, (_, n) => from + (n + 1) * 1000);
  const late = firings.map(({ lateMs }) => lateMs).sort((a, b) => a - b);
  const jobs = await jobsByKey(system, person.id);
  const keys = ticks.map((tick) =>
    requestKey('sync', person.id, `scheduled ${new Date(tick).toISOString()}`),
  );
  const result = {
    queue: options.redis ? 'Redis' : 'PostgreSQL',
    schedulers: SCHEDULERS,
    restarts,
    ticks: ticks.length,
    firedOnce: ticks.filter((tick) => byTick.get(tick)?.count === 1).length,
    missed: ticks.filter((tick) => !byTick.has(tick)).map((tick) => new Date(tick).toISOString()),
    twice: firings.filter(({ count }) => count > 1).map(({ tick }) => new Date(tick).toISOString()),
    lateMs: {
      p50: late[Math.floor(late.length / 2)],
      p95: late[Math.floor(late.length * 0.95)],
      most: late.at(-1),
    },
    byTicket: late.filter((ms) => ms < 300).length,
    // Longest time during which this process itself did not run. If long, the machine was too busy for a conclusion.
    stalledMs: Math.round(stalledMs),
    ticksWithAJob: keys.filter((key) => jobs.has(key)).length,
    ticksWithMoreJobs: keys.filter((key) => (jobs.get(key) ?? 0) > 1).length,
  };
  console.log(JSON.stringify(result, undefined, 2));
  return (
    result.ticks >= seconds - 2 &&
    result.firedOnce === result.ticks &&
    result.twice.length === 0 &&
    result.ticksWithMoreJobs === 0
  );
}

async function jobsByKey({ database }: System<TestProcess>, accountId: string): Promise<Map<string, number>> {
  const { rows } = await database.pool.query<{ key: string; count: number }>(
    `select key, count(*)::int as count
       from (select key from history where party = $1 union all select key from work where party = $1) j group by key`,
    [accountId],
  );
  return new Map(rows.map(({ key, count }) => [key, count]));
}

function startMemoryWorker({ env }: System<TestProcess>): TestProcess {
  const path = fileURLToPath(new URL('../../workers/main.ts', import.meta.url));
  return new TestProcess(fork(path, ['memory'], { env: { ...bareEnvironment(), ...env }, silent: true }));
}

process.exitCode = (await run()) ? 0 : 1;
