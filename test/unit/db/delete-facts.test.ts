import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { deleteFacts } from '../../../shared/db/stores/memory/forget-derived.ts';

const FACTS = 30_000;

describe('deleting facts', () => {
  it('a chain of 30,000 facts, each superseded by the next, is deleted within 5 s', async () => {
    const chain = Array.from({ length: FACTS }, (_, n) => ({
      id: `${n}`,
      successor: n + 1 < FACTS ? `${n + 1}` : 'last',
      revisionOf: null,
    }));
    const { tx, successors } = storeOf(chain);
    const ids = chain.map(({ id }) => id);
    const { deleted } = await deleteFacts(tx, 'account', ids);
    assert.equal(deleted.length, FACTS);
    assert.deepEqual(successors(), ['last']);
  }).timeout(5000);

  for (const [name, circle] of [
    ['supersede each other', { a: 'b', b: 'a' }],
    ['supersede themselves', { a: 'a' }],
  ] as const)
    it(`facts that ${name} are deleted without an endless loop, and leave no successor`, async () => {
      const facts = Object.entries(circle).map(([id, successor]) => ({ id, successor, revisionOf: null }));
      const { tx, successors } = storeOf(facts);
      const { deleted } = await deleteFacts(tx, 'account', Object.keys(circle));
      assert.deepEqual([deleted, successors()], [Object.keys(circle), [null]]);
    });
});

/** Fakes a transaction that finds these facts; `successors` returns the facts' new successors. */
function storeOf(facts: { id: string; successor: string | null; revisionOf: null }[]) {
  let successors = new Set<string | null>();
  const execute = async (sql: string, [changes]: unknown[]) => {
    if (sql.includes('select id, coalesce(superseded_by')) return facts;
    if (sql.includes('update facts f'))
      successors = new Set(
        JSON.parse(String(changes)).map((one: { successor: string | null }) => one.successor),
      );
    return [];
  };
  const nativeDelete = async () => 0;
  return { tx: { execute, nativeDelete } as unknown as EntityManager, successors: () => [...successors] };
}
