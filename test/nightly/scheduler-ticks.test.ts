import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestKey } from '../../shared/domain/work.ts';
import { signUp } from '../support/account.ts';
import { bareEnvironment } from '../support/environment.ts';
import { firingsOf, noteFirings } from '../support/firings.ts';
import { event, post } from '../support/recording.ts';
import { SCALE } from '../support/scale.ts';
import { TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const SCHEDULERS = 4;
const RESTARTS = 10 * SCALE;
const SECONDS = 30 * SCALE;
const RECORD_EVERY_MS = 100;

describe('ticks of recurring work', function () {
  this.timeout(4000 * SECONDS);
  const system = useProcesses({
    workerEntry: ['workers/main.ts', 'scheduler'],
    workers: SCHEDULERS,
    env: { SYNC_EVERY: '* * * * * *', LEASE_MS: '5000' },
  });
  before(() => noteFirings(system.database));

  it('each tick fires once, and admits at most one job of an account, while four schedulers are killed and stopped in turn #ticks', async () => {
    await using memory = startMemoryWorker();
    await memory.ready();
    const person = await signUp(system);
    const session_id = randomUUID();
    const recording = setInterval(() => {
      void post(person, [event({ session_id, type: 'note', text: 'x' })]).catch(() => {});
    }, RECORD_EVERY_MS);
    const firings = () => firingsOf(system.database);
    await until(async () => (await firings()).length > 2, 20_000);
    const from = (await firings()).at(-1)?.tick ?? 0;
    await restartInTurn();
    clearInterval(recording);
    const fired = (await firings()).filter(({ tick }) => tick > from);
    const ticks = Array.from(
      { length: ((fired.at(-1)?.tick ?? from) - from) / 1000 },
      (_, n) => from + (n + 1) * 1000,
    );
    assert.ok(ticks.length >= SECONDS - 2, `${ticks.length} ticks`);
    assert.deepEqual(
      fired.map(({ tick, count }) => [tick, count]),
      ticks.map((tick) => [tick, 1]),
    );
    const rows = await system.sql<{ key: string; count: number }>(
      `select key, count(*)::int as count
         from (select key from history where party = $1 union all select key from work where party = $1) j group by key`,
      [person.id],
    );
    const jobs = new Map(rows.map(({ key, count }) => [key, count]));
    const ofTicks = ticks.map((tick) =>
      jobs.get(requestKey('sync', person.id, `scheduled ${new Date(tick).toISOString()}`)),
    );
    assert.ok(ofTicks.some((count) => count === 1));
    assert.ok(ofTicks.every((count = 0) => count <= 1));
  });

  async function restartInTurn(): Promise<void> {
    const since = performance.now();
    const starts: Promise<unknown>[] = [];
    const untilSecond = (second: number) => sleep(Math.max(0, since + 1000 * second - performance.now()));
    for (let nth = 0; nth < RESTARTS; nth += 1) {
      await untilSecond(((nth + 0.5) * SECONDS) / RESTARTS);
      // Waits for the earlier starts: if a busy machine started schedulers more slowly than they end, none would be left.
      await Promise.all(starts.slice(0, -1));
      const victim = system.workers.shift();
      await victim?.stop(nth % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      // The new scheduler may be stopped before it is ready.
      starts.push(system.startWorker().catch(() => {}));
    }
    await untilSecond(SECONDS);
    await Promise.all(starts);
  }

  function startMemoryWorker(): TestProcess {
    const path = fileURLToPath(new URL('../../workers/main.ts', import.meta.url));
    const env = { ...bareEnvironment(), ...system.env };
    return new TestProcess(fork(path, ['memory'], { env, silent: true }));
  }
});
