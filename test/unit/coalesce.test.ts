import assert from 'node:assert/strict';
import { setImmediate as settlePromises } from 'node:timers/promises';
import { Coalescer } from '../../shared/timing/coalesce.ts';

describe('coalesced work', () => {
  /** Makes work whose runs last until the test ends them. */
  function makeWork() {
    const ends: PromiseWithResolvers<number>[] = [];
    const work = () => {
      const end = Promise.withResolvers<number>();
      ends.push(end);
      return end.promise;
    };
    return { ends, work };
  }

  it('coalesced work starts at once when idle, and callers that come during a run share the next run', async () => {
    const { ends, work } = makeWork();
    const coalesced = new Coalescer(work);
    const first = coalesced.run();
    assert.equal(ends.length, 1);
    const others = [coalesced.run(), coalesced.run(), coalesced.run()];
    ends[0]?.resolve(1);
    assert.equal(await first, 1);
    await settlePromises();
    assert.equal(ends.length, 2);
    ends[1]?.resolve(2);
    assert.deepEqual(await Promise.all(others), [2, 2, 2]);
    await settlePromises();
    assert.equal(coalesced.isRunning, false);
  });

  it('coalesced work never runs twice at once, whenever callers come', async () => {
    let running = 0;
    let most = 0;
    const coalesced = new Coalescer(async () => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = Math.random() * 5; turn > 0; turn -= 1) await undefined;
      running -= 1;
    });
    const callers = Array.from({ length: 50 }, async () => {
      for (let turn = Math.random() * 50; turn > 0; turn -= 1) await undefined;
      await coalesced.run();
    });
    await Promise.all(callers);
    assert.equal(most, 1);
  });

  it('a failed run of coalesced work rejects only its own callers, and the next run starts', async () => {
    const { ends, work } = makeWork();
    const coalesced = new Coalescer(work);
    const failing = coalesced.run();
    const next = coalesced.run();
    ends[0]?.reject(new Error('broken'));
    await assert.rejects(failing, /broken/);
    await settlePromises();
    ends[1]?.resolve(2);
    assert.equal(await next, 2);
  });

  it('coalesced work with a pause of 50 ms starts its next run at least that long after the previous run', async () => {
    const begun: number[] = [];
    const coalesced = new Coalescer(async () => {
      begun.push(performance.now());
    }, 50);
    await coalesced.run();
    await coalesced.run();
    const [first = 0, second = 0] = begun;
    assert.ok(second - first >= 49, `${second - first} ms`);
  });
});
