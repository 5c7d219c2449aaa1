import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RawMemoryResponse } from '../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { event, post } from '../support/recording.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const EACH_SECOND = '* * * * * *';

describe('recurring sync', function () {
  this.timeout(60_000);
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'], workers: 0 });
  afterEach(async () => {
    await Promise.all(system.workers.splice(0).map((one) => one.stop()));
  });

  const note = (text: string) => event({ session_id: randomUUID(), type: 'note', text });
  const memoryOf = async (person: UserClient) => {
    const { body } = await person.request<{ results: RawMemoryResponse[] }>('GET', '/api/memory/raw/');
    return body.results.map(({ content }) => content);
  };
  const jobsOf = async ({ id }: UserClient) => {
    const { rows } = await system.database.pool.query<{ key: string; state: string }>(
      `select key, state from history where party = $1 and kind = 'sync'
       union all select key, state from work where party = $1 and kind = 'sync'`,
      [id],
    );
    return rows;
  };

  it('scheduled sync takes each new event into memory by exactly one job, even if two workers run the scheduler', async () => {
    const [ann] = await Promise.all([
      signUp(system),
      system.startWorker({ SYNC_EVERY: EACH_SECOND }),
      system.startWorker({ SYNC_EVERY: EACH_SECOND }),
    ]);
    await post(ann, [note('Fridays are sacred')]);
    await until(async () => (await memoryOf(ann)).length === 1, 20_000);
    assert.equal((await jobsOf(ann)).length, 1);
    await post(ann, [note('Mondays are not')]);
    await until(async () => (await memoryOf(ann)).length === 2, 20_000);
    const jobs = await jobsOf(ann);
    assert.deepEqual([jobs.length, new Set(jobs.map(({ key }) => key)).size], [2, 2]);
  });

  it('scheduled sync starts no job if SYNC_EVERY is off', async () => {
    await system.startWorker({ SYNC_EVERY: EACH_SECOND });
    const ticks = async () =>
      (
        await system.database.pool.query<{ last_tick: Date | null; pattern: string | null }>(
          `select last_tick, pattern from schedules where name = 'sync'`,
        )
      ).rows[0];
    await until(async () => (await ticks())?.last_tick);
    await Promise.all(system.workers.splice(0).map((one) => one.stop()));
    await system.startWorker({ SYNC_EVERY: 'off' });
    const before = await ticks();
    assert.equal(before?.pattern, null);
    const ann = await signUp(system);
    await post(ann, [note('Nobody asks')]);
    await sleep(2500);
    assert.deepEqual([await memoryOf(ann), await jobsOf(ann), await ticks()], [[], [], before]);
  });
});
