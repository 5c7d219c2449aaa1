import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { singleFlight } from '../../../ingress/connect/connections.ts';

describe('single flight', () => {
  /** Makes calls that record how many pieces of work ran, and how many at once. */
  const counting = (work: (n: number) => Promise<string>) => {
    const together = singleFlight<string>((failure) => String(failure).includes('refused'));
    const seen = { works: 0, atOnce: 0 };
    let running = 0;
    const call = (key: string) =>
      together(key, async () => {
        seen.works += 1;
        running += 1;
        seen.atOnce = Math.max(seen.atOnce, running);
        try {
          return await work(seen.works);
        } finally {
          running -= 1;
        }
      });
    const crowd = () => Promise.allSettled(Array.from({ length: 50 }, () => call('k')));
    return { call, crowd, seen };
  };
  const values = (settled: PromiseSettledResult<string>[]) =>
    settled.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'));

  it('a single flight shares a success with all waiting callers, and runs the work again for later callers', async () => {
    const { crowd, seen } = counting(async (n) => {
      await setImmediate();
      return `answer ${n}`;
    });
    assert.deepEqual(new Set(values(await crowd())), new Set(['answer 1']));
    assert.deepEqual(new Set(values(await crowd())), new Set(['answer 2']));
    assert.equal(seen.works, 2);
  });

  it('a single flight gives all waiting callers a failure that none of them caused, and does not repeat the work', async () => {
    const { crowd, seen } = counting(async () => {
      await setImmediate();
      throw new Error('away');
    });
    assert.deepEqual(new Set(values(await crowd())), new Set(['failed']));
    assert.equal(seen.works, 1);
  });

  it('a single flight fails only the caller that caused a failure, and the others share the next success', async () => {
    const { crowd, seen } = counting(async (n) => {
      await setImmediate();
      if (n === 1) throw new Error('refused');
      return 'answer';
    });
    const answers = values(await crowd());
    assert.deepEqual([answers.filter((one) => one === 'failed').length, seen.works], [1, 2]);
  });

  it('a single flight whose callers each cause their own failure runs the work once for each caller, one at a time', async () => {
    const { crowd, seen } = counting(async (n) => {
      await setImmediate();
      throw new Error(`refused ${n}`);
    });
    assert.deepEqual(new Set(values(await crowd())), new Set(['failed']));
    assert.deepEqual(seen, { works: 50, atOnce: 1 });
  });

  it('a single flight shares no result between keys', async () => {
    const { call, seen } = counting(async (n) => `answer ${n}`);
    assert.deepEqual(await Promise.all([call('a'), call('b')]), ['answer 1', 'answer 2']);
    assert.equal(seen.works, 2);
  });
});
