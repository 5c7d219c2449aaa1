import assert from 'node:assert/strict';
import { backoffMs, retry } from '../../shared/timing/retry.ts';

const SHORT_DELAYS = { firstMs: 1, longestMs: 2 };

/** Makes work that fails `times` times, and then resolves with the number of its tries. */
function failingWork(times: number) {
  let tries = 0;
  return {
    work: async () => {
      tries += 1;
      if (tries <= times) throw new Error(`failure ${tries}`);
      return tries;
    },
    tries: () => tries,
  };
}

describe('retry', () => {
  it('`retry` repeats failing work until the work succeeds', async () => {
    assert.equal(await retry(failingWork(3).work, SHORT_DELAYS), 4);
  });

  it('`retry` rejects with the first error for which `when` returns false', async () => {
    const { work, tries } = failingWork(5);
    const when = (_: unknown, failed: number) => failed < 3;
    await assert.rejects(retry(work, { ...SHORT_DELAYS, when }), { message: 'failure 3' });
    assert.equal(tries(), 3);
  });

  it('`retry` does not repeat failed work after its `until` time', async () => {
    const { work, tries } = failingWork(5);
    await assert.rejects(retry(work, { ...SHORT_DELAYS, until: performance.now() }), {
      message: 'failure 1',
    });
    assert.equal(tries(), 1);
  });

  it('`retry` stops waiting for its next attempt when its signal aborts', async () => {
    const stop = new AbortController();
    const retried = retry(failingWork(5).work, { firstMs: 60_000, longestMs: 60_000, signal: stop.signal });
    setImmediate(() => stop.abort());
    await assert.rejects(retried, { name: 'AbortError' });
  });

  it('the retry delay doubles after each attempt, up to the longest delay, with jitter', () => {
    for (const [tries, ms] of [
      [1, 50],
      [2, 100],
      [3, 200],
      [9, 1000],
      [2000, 1000],
    ] as const) {
      const delayMs = backoffMs(tries, { firstMs: 50, longestMs: 1000 });
      assert.ok(delayMs >= ms / 2 && delayMs <= ms, `${tries}: ${delayMs} ms`);
    }
  });
});
