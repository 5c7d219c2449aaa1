import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDispatch, jobsOf } from '../../../shared/jobs/dispatch.ts';

const of = (appId: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ appId, id: `${appId}${n}`, turn: n + 1 }));

describe('dispatch', () => {
  it('puts up to eight ids of one app in a job, and never ids of two', () => {
    const jobs = jobsOf([...of('a', 9), ...of('b', 2)]);
    assert.deepEqual(
      jobs.map(({ payload }) => payload.ids),
      [['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'], ['a8'], ['b0', 'b1']],
    );
  });

  it('tries again when the queue is out of reach for a moment', async () => {
    let calls = 0;
    const added: string[][] = [];
    const dispatch = createDispatch({
      async add(jobs) {
        calls += 1;
        if (calls < 3) throw new Error('away');
        added.push(...jobs.map(({ payload }) => payload.ids));
      },
    });
    await dispatch({ id: 'x', appId: 'a', turn: 1 });
    assert.deepEqual(added, [['x']]);
  });

  it('rejects in two seconds also whoever came while it was tried for others', async () => {
    const dispatch = createDispatch({ add: () => new Promise(() => {}) });
    const rejected = assert.rejects(dispatch({ id: 'x', appId: 'a', turn: 1 }), /took no job/);
    await sleep(500);
    const since = performance.now();
    await assert.rejects(dispatch({ id: 'y', appId: 'a', turn: 2 }), /took no job/);
    assert.ok(performance.now() - since < 2500);
    await rejected;
  });

  it('rejects when the queue stays away', async () => {
    const dispatch = createDispatch({ add: () => Promise.reject(new Error('away')) });
    await assert.rejects(dispatch({ id: 'x', appId: 'a', turn: 1 }), /took no job/);
  });
});
