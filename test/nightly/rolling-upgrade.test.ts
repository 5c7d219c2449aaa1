import assert from 'node:assert/strict';
import { createDatabase } from '../support/database.ts';
import { CONTRACT, EXPAND, FILL, rollingUpgrade } from '../support/rolling-upgrade.ts';
import { SCALE } from '../support/scale.ts';
import { interruptionsIn } from '../support/under-load.ts';
import { thisVersion, type Version, versionWithReleases } from '../support/version.ts';

describe('a rolling upgrade under load', function () {
  this.timeout(180_000 * SCALE);
  const later: Version[] = [];
  before(async () => {
    for (const releases of [[EXPAND], [EXPAND, FILL], [EXPAND, FILL, CONTRACT]])
      later.push(await versionWithReleases(releases));
  });
  after(() => Promise.all(later.map((one) => one.remove())));

  it('rolling upgrades that add, fill and drop columns of hot-path tables break no connection, lose no request and charge none twice', async () => {
    for (let round = 0; round < SCALE; round += 1) {
      await using database = await createDatabase({ empty: true });
      const run = await rollingUpgrade([thisVersion(), ...later], {
        databaseUrl: database.url,
        perSecond: 50,
      });
      assert.deepEqual(interruptionsIn(run), [], JSON.stringify(run));
      assert.ok(run.exits.every((code) => code === 0));
    }
  });
});
