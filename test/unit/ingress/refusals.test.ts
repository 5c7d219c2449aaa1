import assert from 'node:assert/strict';
import { Refusals } from '../../../ingress/limits/refusals.ts';
import type { RefusalCount } from '../../../shared/db/stores/refusals.ts';

describe('counts of refusals', () => {
  let written: RefusalCount[];
  let failure: Error | undefined;
  let refusals: Refusals;
  beforeEach(() => {
    [written, failure] = [[], undefined];
    const write = async (counts: readonly RefusalCount[]) => {
      if (failure) throw failure;
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
    failure = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    await assert.rejects(refusals.flush());
    refusals.add('a', 'rate_limited');
    failure = undefined;
    await refusals.flush();
    assert.deepEqual(written, [{ appId: 'a', code: 'rate_limited', calls: 3 }]);
  });

  it('counts of refusals are not written again after a write that may have been committed', async () => {
    refusals.add('a', 'rate_limited');
    failure = new Error('Query read timeout');
    await assert.rejects(refusals.flush());
    failure = undefined;
    await refusals.flush();
    assert.deepEqual(written, []);
  });

  it('counts of refusals are bounded, however many apps are refused while the database is down', async () => {
    for (let n = 0; n < 10_005; n += 1) refusals.add(`${n}`, 'overloaded');
    await refusals.flush();
    assert.equal(written.length, 10_000);
  });
});
