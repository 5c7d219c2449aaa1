import assert from 'node:assert/strict';
import { RefusalCounter } from '../../../ingress/limits/refusals.ts';
import type { RefusalCount } from '../../../shared/db/stores/refusals.ts';

describe('refusal counts', () => {
  let written: RefusalCount[];
  let failure: Error | undefined;
  let refusals: RefusalCounter;
  beforeEach(() => {
    [written, failure] = [[], undefined];
    const write = async (counts: readonly RefusalCount[]) => {
      if (failure) throw failure;
      written.push(...counts);
    };
    refusals = new RefusalCounter(write, () => {});
  });
  afterEach(() => refusals.close());

  it('refusal counts are added up per app and code, and written once', async () => {
    for (let n = 0; n < 3; n += 1) refusals.add('a', 'rate_limited');
    refusals.add('a', 'overloaded');
    await refusals.flush();
    await refusals.flush();
    assert.deepEqual(written, [
      { appId: 'a', code: 'rate_limited', calls: 3 },
      { appId: 'a', code: 'overloaded', calls: 1 },
    ]);
  });

  it('refusal counts that could not be written during an outage are written after it, together with later ones', async () => {
    refusals.add('a', 'rate_limited');
    refusals.add('a', 'rate_limited');
    failure = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    await assert.rejects(refusals.flush());
    refusals.add('a', 'rate_limited');
    failure = undefined;
    await refusals.flush();
    assert.deepEqual(written, [{ appId: 'a', code: 'rate_limited', calls: 3 }]);
  });

  it('refusal counts are not written again after a write that may have been committed', async () => {
    refusals.add('a', 'rate_limited');
    failure = new Error('Query read timeout');
    await assert.rejects(refusals.flush());
    failure = undefined;
    await refusals.flush();
    assert.deepEqual(written, []);
  });

  it('refusal counts are kept for at most 10,000 pairs of an app and a code at a time', async () => {
    for (let n = 0; n < 10_005; n += 1) refusals.add(`${n}`, 'overloaded');
    await refusals.flush();
    assert.equal(written.length, 10_000);
  });
});
