import assert from 'node:assert/strict';
import { setImmediate as settlePromises } from 'node:timers/promises';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

describe('concurrency limiter', () => {
  /** Makes a piece of work that lasts until the test calls `done`. */
  const piece = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let started = false;
    const work = () => {
      started = true;
      return promise;
    };
    return { work, done: resolve, isStarted: () => started };
  };

  it('the concurrency limiter drops the work of a caller that leaves the queue, and gives its place to the next caller', async () => {
    const limiter = new ConcurrencyLimiter({ capacity: 1, maxQueued: 1 });
    const [running, left, next] = [piece(), piece(), piece()];
    const first = limiter.run(running.work);
    const gone = new AbortController();
    const leaving = limiter.run(left.work, { gone: gone.signal });
    gone.abort();
    await assert.rejects(leaving, { code: 'overloaded' });
    const last = limiter.run(next.work);
    running.done();
    next.done();
    await Promise.all([first, last]);
    assert.ok(!left.isStarted() && next.isStarted());
    await assert.rejects(
      Promise.all([
        limiter.run(() => settlePromises()),
        limiter.run(left.work, { gone: AbortSignal.abort() }),
      ]),
      {
        code: 'overloaded',
      },
    );
  });

  it('the concurrency limiter lets parties take turns', async () => {
    const limiter = new ConcurrencyLimiter({ capacity: 1 });
    const order: string[] = [];
    const work = (party: string) => limiter.run(async () => void order.push(party), { party });
    await Promise.all(['a', 'a', 'a', 'b', 'c', 'b'].map(work));
    assert.equal(order.join(''), 'abcaba');
  });

  it('the concurrency limiter limits the total weight, and lets no light piece overtake a waiting heavy piece', async () => {
    const limiter = new ConcurrencyLimiter({ capacity: 10, maxPerParty: 8 });
    const [first, heavy, light] = [
      await limiter.acquire({ party: 'a', weight: 6 }),
      limiter.acquire({ party: 'b', weight: 8 }),
      limiter.acquire({ party: 'c', weight: 1 }),
    ];
    let isIn = false;
    const lightIsIn = light.then(() => {
      isIn = true;
    });
    await settlePromises();
    assert.equal(isIn, false);
    first.release();
    await Promise.all([heavy, lightIsIn]);
  });

  it('the concurrency limiter lets a running piece gain weight within the limits, and frees all of it once, even if released twice', async () => {
    const limiter = new ConcurrencyLimiter({ capacity: 10, maxPerParty: 6 });
    const growing = await limiter.acquire({ party: 'a' });
    assert.ok(growing.grow(5));
    assert.ok(!growing.grow(1));
    const other = await limiter.acquire({ party: 'b', weight: 3 });
    assert.ok(!other.grow(2));
    growing.release();
    growing.release();
    assert.ok(other.grow(3));
    const third = await limiter.acquire({ party: 'c', weight: 4 });
    assert.ok(!third.grow(1));
  });

  it('the concurrency limiter admits a waiting piece when a running piece shrinks', async () => {
    const limiter = new ConcurrencyLimiter({ capacity: 10, maxPerParty: 6 });
    const shrinking = await limiter.acquire({ party: 'a', weight: 6 });
    const other = limiter.acquire({ party: 'b', weight: 6 });
    shrinking.shrink(2);
    const held = await other;
    shrinking.release();
    held.release();
    assert.ok((await limiter.acquire({ party: 'b', weight: 6 })).grow(0));
  });

  it('the concurrency limiter admits the next callers when a heavy one that blocked them leaves the queue', async () => {
    const limiter = new ConcurrencyLimiter({ capacity: 2 });
    await limiter.acquire();
    const gone = new AbortController();
    const heavy = limiter.acquire({ party: 'b', weight: 2, gone: gone.signal });
    const light = limiter.acquire({ party: 'c' });
    gone.abort();
    await assert.rejects(heavy, { code: 'overloaded' });
    await light;
  });
});
