import assert from 'node:assert/strict';
import { Refusals } from '../../../ingress/limits/refusals.ts';
import type { RefusalCount } from '../../../shared/db/stores/refusals.ts';

describe('counts of refusals', () => {
  let written: RefusalCount[];
  let isDown: boolean;
  let refusals: Refusals;
  beforeEach(() => {
    [written, isDown] = [[], false];
    const write = async (counts: readonly RefusalCount[]) => {
      if (isDown) throw new Error('down');
      written.push(...counts);
    };
    refusals = new Refusals(write, () => {});
  });
  afterEach(() => refusals.close());

  it('counts of refusals are written once, together', async () => {
    for (let n = 0; n < 3; n += 1) refusals.add('a', 'rate_limited');
    refusals.add('a', 'overloaded');
    await refusals.flush();
    await refusals.flush();
    assert.deepEqual(written, [
      { appId: 'a', code: 'rate_limited', calls: 3 },
      { appId: 'a', code: 'overloaded', calls: 1 },
    ]);
  });

  it('counts of refusals of an outage are written after it, with those of that time', async () => {
    refusals.add('a', 'rate_limited');
    refusals.add('a', 'rate_limited');
    isDown = true;
    await assert.rejects(refusals.flush());
    refusals.add('a', 'rate_limited');
    isDown = false;
    await refusals.flush();
    assert.deepEqual(written, [{ appId: 'a', code: 'rate_limited', calls: 3 }]);
  });

  it('counts of refusals are bounded, however many apps are refused while the database is down', async () => {
    for (let n = 0; n < 10_005; n += 1) refusals.add(`${n}`, 'overloaded');
    await refusals.flush();
    assert.equal(written.length, 10_000);
  });
});
