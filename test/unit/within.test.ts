import assert from 'node:assert/strict';
import { orAbort, within } from '../../shared/timing/within.ts';

const never = () => new Promise<never>(() => {});

describe('time limit', () => {
  it('a time limit lets work settle as it does when it is done in time', async () => {
    assert.equal(await within(1000, async () => 'done'), 'done');
    await assert.rejects(
      within(1000, () => Promise.reject(new Error('broken'))),
      /broken/,
    );
  });

  it('a time limit rejects with its own error when the work takes longer, and aborts the work with it', async () => {
    const late = new Error('late');
    let signal: AbortSignal | undefined;
    const limited = within(
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

  it('a time limit hears of a failure that comes too late, so that it is not unhandled', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await assert.rejects(
      within(10, () => promise),
      /not done within 10 ms/,
    );
    reject(new Error('too late to matter'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('work that can be aborted', () => {
  it('work that can be aborted is waited for no longer than until its signal aborts, also when that has happened before', async () => {
    const gone = new AbortController();
    const waiting = orAbort(gone.signal, never());
    gone.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    await assert.rejects(orAbort(gone.signal, never()), /gone/);
  });
});
