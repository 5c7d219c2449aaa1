import assert from 'node:assert/strict';
import { takeSteps } from '../../shared/db/steps.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { Housekeeper } from '../../shared/work/housekeeper.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { useDatabase } from '../support/database.ts';

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
      complete: () => assert.fail('there is no work'),
      wakeUps: { announceAdmitted() {} },
      eraseAccounts: (_, stopping) => takeSteps(endless(), 60_000, stopping),
      log: createLog('test', 'silent'),
    });
    await begun.promise;
    const since = performance.now();
    await housekeeper.close();
    assert.ok(performance.now() - since < 30_000);
  });
});
