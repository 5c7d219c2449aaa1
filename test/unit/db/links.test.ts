import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { withSources } from '../../../shared/db/stores/memory/links.ts';

describe('sources of rows of memory', () => {
  it('the sources of rows of memory come as one row of the database for each of them, however many there are', async () => {
    const found = [{ id: 'one', sources: ['a', 'b'] }];
    // Nothing else: an object for each link would stop the event loop for a second.
    const em = { execute: async () => found } as unknown as EntityManager;
    assert.deepEqual(await withSources(em, 'account', 'raw', [{ id: 'none' }, { id: 'one' }]), [
      { row: { id: 'none' }, sources: [] },
      { row: { id: 'one' }, sources: ['a', 'b'] },
    ]);
  });
});
