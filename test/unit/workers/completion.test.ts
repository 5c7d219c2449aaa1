import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { ClaimResult } from '../../../shared/db/stores/work/claim.ts';
import type { Completion } from '../../../shared/db/stores/work/complete.ts';
import { createCompleter, type NextClaim } from '../../../shared/work/completion.ts';
import { until } from '../../support/until.ts';

const completionOf = (id: string, queuedMs: number): Completion => ({
  ...{ id, party: 'app', month: null, queuedMs },
  ...{ guard: 'attempt', attempt: 1, worker: 'this one', state: 'succeeded' },
});

/** Creates the completer of a busy worker, over a database whose statements return the rows that `answer` returns. */
function start(answer: (statement: string, items: { place: number }[]) => unknown[], next?: NextClaim) {
  const statements: { name: string; size: number }[] = [];
  const woken: { ids: readonly string[]; patienceMs: number }[] = [];
  const pool = {
    async query({ name, values }: { name: string; values: string[] }) {
      const items = JSON.parse(values[1] ?? '');
      statements.push({ name, size: items.length });
      return { rows: answer(name, items) };
    },
  };
  const complete = createCompleter({
    pool: pool as unknown as Pool,
    recoveryWindowS: 600,
    wakeUps: { announceEnded() {}, announceCompleted: (ids, patienceMs) => woken.push({ ids, patienceMs }) },
    worker: { isBusy: () => true, nextAfter: () => next },
  });
  return { complete, statements, woken };
}

const NEXT: NextClaim = {
  worker: 'this one',
  asks: [{ kind: 'echo', party: 'app', count: 1, sinceMs: null }],
  slots: 1,
  oneAtATime: [],
  reachMs: 1000,
  onClaimed() {},
  onLost() {},
};

const places = (_: string, items: { place: number }[]) => items.map(({ place }) => ({ place }));

describe('completions', () => {
  it('a busy worker stores completions of long-queued work in one statement, and wakes their callers within 25 ms', async () => {
    const { complete, statements, woken } = start(places);
    const ended = [complete(completionOf('a', 1000))];
    await setImmediate();
    ended.push(complete(completionOf('b', 400)));
    assert.deepEqual(statements, []);
    assert.deepEqual(await Promise.all(ended), [true, true]);
    assert.deepEqual(statements, [{ name: 'complete_v1', size: 2 }]);
    assert.deepEqual(woken, [{ ids: ['a', 'b'], patienceMs: 25 }]);
  });

  it('a busy worker does not wait for more completions once a piece of work that was queued for only 5 ms has ended', async () => {
    const { complete, statements, woken } = start(places);
    void complete(completionOf('a', 1000));
    void complete(completionOf('b', 5));
    await setImmediate();
    assert.deepEqual(statements, [{ name: 'complete_v1', size: 2 }]);
    await until(() => woken.length === 1);
    assert.equal(woken[0]?.patienceMs, 0.5);
  });

  it('a busy worker stores 33 completions at once, in a statement that claims no work', async () => {
    const { complete, statements, woken } = start(places, NEXT);
    const ended = Array.from({ length: 33 }, (_, n) => complete(completionOf(`${n}`, 1000)));
    await setImmediate();
    assert.deepEqual(statements, [{ name: 'complete_v1', size: 33 }]);
    await Promise.all(ended);
    assert.equal(woken[0]?.patienceMs, 0);
  });

  it('a completion that also claims work reports the claim or its possible loss, and is stored even if the claim fails', async () => {
    const told: unknown[] = [];
    const next: NextClaim = {
      ...NEXT,
      onClaimed: ({ claims, left }: ClaimResult) =>
        told.push({ claims, left: left.map(({ party }) => party) }),
      onLost: () => told.push('lost'),
    };
    let code = '';
    const { complete, statements } = start((statement, items) => {
      if (code !== '' && statement === 'complete_and_claim_v2')
        throw Object.assign(new Error(code), { code });
      return [...places(statement, items), { place: null, id: null, kind: 'echo', party: 'app' }];
    }, next);
    assert.equal(await complete(completionOf('a', 0)), true);
    assert.deepEqual(told.splice(0), [{ claims: [], left: ['app'] }]);

    for (code of ['57P01', '55P03']) await assert.rejects(complete(completionOf('b', 0)), { code });
    assert.deepEqual(told.splice(0), ['lost', 'lost']);
    assert.deepEqual(
      statements.splice(0).map(({ name }) => name),
      ['complete_and_claim_v2', 'complete_and_claim_v2', 'complete_and_claim_v2'],
      'the statement is not repeated after a lost connection or a lock timeout',
    );

    code = '22012';
    assert.equal(await complete(completionOf('c', 0)), true, 'a failed claim does not cost an answer');
    assert.deepEqual(told, ['lost']);
    assert.equal(statements.at(-1)?.name, 'complete_v1');
  });
});
