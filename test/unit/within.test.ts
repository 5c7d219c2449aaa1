import assert from 'node:assert/strict';
import { rejectOnAbort, withTimeout } from '../../shared/timing/within.ts';

const never = () => new Promise<never>(() => {});

describe('time limit', () => {
  it('a time limit passes on the result or error of work that ends in time', async () => {
    assert.equal(await withTimeout(1000, async () => 'done'), 'done');
    await assert.rejects(
      withTimeout(1000, () => Promise.reject(new Error('broken'))),
      /broken/,
    );
  });

  it('work that exceeds its time limit is aborted, and rejected, with the given error', async () => {
    const late = new Error('late');
    let signal: AbortSignal | undefined;
    const limited = withTimeout(
      10,
      (given) => {
        signal = given;
        return never();
      },
      () => late,
    );
    await assert.rejects(limited, late);
    assert.equal(signal?.reason, late);
  });

  it('a time limit handles a failure that comes too late, so that no rejection is unhandled', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await assert.rejects(
      withTimeout(10, () => promise),
      /not done within 10 ms/,
    );
    reject(new Error('too late to matter'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('abortable work', () => {
  it('`rejectOnAbort` rejects when its signal aborts, or at once if the signal is aborted already', async () => {
    const gone = new AbortController();
    const waiting = rejectOnAbort(gone.signal, never());
    gone.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    await assert.rejects(rejectOnAbort(gone.signal, never()), /gone/);
  });
});
