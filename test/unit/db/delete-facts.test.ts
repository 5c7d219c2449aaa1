import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { deleteFacts } from '../../../shared/db/stores/memory/forget-derived.ts';

const FACTS = 30_000;

describe('deleting facts', () => {
  it('deleting a chain of 30,000 facts follows the chain once, not once from each fact', async () => {
    const chain = Array.from({ length: FACTS }, (_, n) => ({
      id: `${n}`,
      successor: n + 1 < FACTS ? `${n + 1}` : 'last',
      revisionOf: null,
    }));
    let successors = new Set<string>();
    const execute = async (sql: string, [changes]: unknown[]) => {
      if (sql.includes('select id, coalesce(superseded_by')) return chain;
      if (sql.includes('update facts f'))
        successors = new Set(JSON.parse(String(changes)).map((one: { successor: string }) => one.successor));
      return [];
    };
    const ids = chain.map(({ id }) => id);
    const { deleted } = await deleteFacts({ execute } as unknown as EntityManager, 'account', ids);
    assert.equal(deleted.length, FACTS);
    assert.deepEqual([...successors], ['last']);
  }).timeout(5000);
});
