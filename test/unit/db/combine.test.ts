import assert from 'node:assert/strict';
import { combine } from '../../../shared/db/combine.ts';

/** A statement whose runs the test lets finish one by one. */
function statement() {
  const batches: { items: number[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const run = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({ items, finish: () => resolve(items.map((n) => `#${n}`)), fail: reject });
    });
  return { batches, run };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('combine', () => {
  it('starts the statement of a lone caller at once', () => {
    const { batches, run } = statement();
    combine(run, { most: 10 })(1);
    assert.deepEqual(
      batches.map(({ items }) => items),
      [[1]],
    );
  });

  it('lets those that arrive while a statement is in flight share the next one, and gives each its own output', async () => {
    const { batches, run } = statement();
    const ask = combine(run, { most: 10 });
    const answers = Promise.all([ask(1), ask(2), ask(3)]);
    batches[0]?.finish();
    await settled();
    assert.deepEqual(
      batches.map(({ items }) => items),
      [[1], [2, 3]],
    );
    batches[1]?.finish();
    assert.deepEqual(await answers, ['#1', '#2', '#3']);
  });

  it('takes no more than it may into one statement', async () => {
    const { batches, run } = statement();
    const ask = combine(run, { most: 2 });
    const answers = Promise.all([1, 2, 3, 4].map(ask));
    for (let n = 0; n < 3; n += 1) {
      batches[n]?.finish();
      await settled();
    }
    assert.deepEqual(await answers, ['#1', '#2', '#3', '#4']);
    assert.deepEqual(
      batches.map(({ items }) => items),
      [[1], [2, 3], [4]],
    );
  });

  it('tries the items of a failed statement alone, so that one fault is never another’s', async () => {
    const run = async (items: number[]) => {
      if (items.includes(3)) throw new Error('three');
      return items.map((n) => `#${n}`);
    };
    const ask = combine(run, { most: 10 });
    const answers = await Promise.allSettled([ask(1), ask(2), ask(3), ask(4)]);
    assert.deepEqual(
      answers.map((a) => (a.status === 'fulfilled' ? a.value : a.reason.message)),
      ['#1', '#2', 'three', '#4'],
    );
  });

  it('rejects all of a statement at once when the database is away', async () => {
    let runs = 0;
    const ask = combine(
      async (): Promise<string[]> => {
        runs += 1;
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      },
      { most: 10 },
    );
    const answers = await Promise.allSettled([ask(1), ask(2), ask(3)]);
    assert.ok(answers.every(({ status }) => status === 'rejected'));
    assert.equal(runs, 2);
  });

  it('goes on after a failure', async () => {
    let fail = true;
    const ask = combine(
      async (items: number[]) => {
        if (fail) throw new Error('once');
        return items;
      },
      { most: 10 },
    );
    await assert.rejects(ask(1));
    fail = false;
    assert.equal(await ask(2), 2);
  });
});
