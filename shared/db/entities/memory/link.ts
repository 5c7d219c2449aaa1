import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '../account.ts';

/**
 * Where a row of memory comes from: `from` is derived from `to`. The only place where provenance is stored; the ids of
 * sources in an answer are read from here. Without foreign keys to the rows, which are in three tables: deletion
 * removes the links of what it deletes (`stores/memory/delete.ts`).
 */
export const MemoryLink = defineEntity({
  name: 'MemoryLink',
  tableName: 'memory_links',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    fromId: p.uuid().primary(),
    toId: p.uuid().primary(),
    /** `derived_from`; or `forgotten`, from a fact that the person deleted. */
    relation: p.text().primary(),
    fromTier: p.text(),
    toTier: p.text(),
    /** The words of the source that support it. */
    quote: p.text().nullable(),
  },
  indexes: [{ name: 'memory_links_to', properties: ['account', 'toId'] }],
});
export type MemoryLink = InferEntity<typeof MemoryLink>;
