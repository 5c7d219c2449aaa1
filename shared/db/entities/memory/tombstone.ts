import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../account.ts';

/** A recorded event whose raw row was deleted: no raw row is made from it again. */
export const MemoryTombstone = defineEntity({
  name: 'MemoryTombstone',
  tableName: 'memory_tombstones',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** SHA-256 of the account's id and the event's: `event_hash` in SQL. */
    eventHash: p.blob().primary(),
  },
});
