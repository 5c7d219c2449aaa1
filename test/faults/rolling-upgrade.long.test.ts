import assert from 'node:assert/strict';
import { useDatabase } from '../support/database.ts';
import { CONTRACT, EXPAND, rollingUpgrade } from '../support/rolling-upgrade.ts';
import { interruptionsIn } from '../support/under-load.ts';
import { thisVersion, type Version, versionWithReleases } from '../support/version.ts';

describe('a rolling upgrade under load', function () {
  this.timeout(120_000);
  const database = useDatabase({ empty: true });
  const later: Version[] = [];
  before(async () => {
    later.push(await versionWithReleases([EXPAND]), await versionWithReleases([EXPAND, CONTRACT]));
  });
  after(() => Promise.all(later.map((one) => one.remove())));

  it('rolling upgrades that add and drop columns of hot-path tables break no connection, lose no request and charge none twice', async () => {
    const run = await rollingUpgrade([thisVersion(), ...later], { databaseUrl: database.url, perSecond: 50 });
    assert.deepEqual(interruptionsIn(run), [], JSON.stringify(run));
    assert.ok(run.exits.every((code) => code === 0));
  });
});
