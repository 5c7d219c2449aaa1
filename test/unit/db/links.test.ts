import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { withSources } from '../../../shared/db/stores/memory/links.ts';

describe('sources of a memory row', () => {
  it('all sources of a memory row are read from a single database row', async () => {
    const found = [{ id: 'one', sources: ['a', 'b'] }];
    // Reading an object for each of many links would block the event loop for a second.
    const em = { execute: async () => found } as unknown as EntityManager;
    assert.deepEqual(await withSources(em, 'account', 'raw', [{ id: 'none' }, { id: 'one' }]), [
      { row: { id: 'none' }, sources: [] },
      { row: { id: 'one' }, sources: ['a', 'b'] },
    ]);
  });
});
