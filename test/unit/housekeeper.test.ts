import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeSteps } from '../../shared/db/steps.ts';
import { turnRounds } from '../../shared/db/stores/rounds.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { Rest } from '../../shared/timing/rest.ts';
import { Housekeeper } from '../../shared/work/housekeeper.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

describe('housekeeper', () => {
  const database = useDatabase();

  it('a housekeeper that closes waits only for the current step of its round, not for the end of the round', async () => {
    const begun = Promise.withResolvers<void>();
    async function* endless() {
      for (;;) {
        begun.resolve();
        yield;
      }
    }
    const housekeeper = new Housekeeper({
      ...{ pool: database.pool, kinds, process: newId(), leaseMs: 1000, recoveryWindowS: 600 },
      rest: new Rest(),
      complete: () => assert.fail('there is no work'),
      addJobs() {},
      eraseAccounts: (_, stopping) => takeSteps(endless(), 60_000, stopping),
      log: createLog('test', 'silent'),
    });
    await begun.promise;
    const since = performance.now();
    await housekeeper.close();
    assert.ok(performance.now() - since < 30_000);
  });

  it('of two processes one runs a step at a time, and another takes the step over once the first is dead #housekeeper-dies', async () => {
    const { pool } = database;
    const [first, second] = [newId(), newId()];
    const aliveFor = (id: string, time: string) =>
      pool.query(
        `insert into processes (id, kind, alive_until) values ($1, 'web', now() + $2::interval)
         on conflict (id) do update set alive_until = excluded.alive_until`,
        [id, time],
      );
    const steps = [{ step: 'step', everyMs: 1 }];
    const begin = async (process: string) =>
      (await turnRounds(pool, process, { ended: [], steps })).includes('step');
    const end = (process: string) =>
      turnRounds(pool, process, { ended: [{ step: 'step', succeeded: true }], steps: [] });
    await aliveFor(first, '1 minute');
    assert.equal(await begin(first), true);
    await sleep(10);
    assert.equal(await begin(second), false);
    await aliveFor(first, '-1 second');
    await until(() => begin(second));
    await end(first);
    await aliveFor(second, '1 minute');
    assert.equal(await begin(first), false, 'a round that another process took over is not ended');
    await end(second);
    // The interval of a millisecond may not have passed.
    await until(() => begin(first));
  });
});
