import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';

/**
 * Predictions that an account's erasure still has to erase: those of a connection that were admitted until its grant
 * ended. Written down because the connection itself may be another account's a moment later.
 */
export const ErasingGrant = defineEntity({
  name: 'ErasingGrant',
  tableName: 'erasing_grants',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    connectionId: p.uuid().primary(),
    /** Of an earlier grant of a connection that is another account's now; 0: whatever the grant. */
    grantRevision: p.integer().primary(),
    /** When the grant had ended. */
    endedAt: p.datetime(3),
  },
});
export type ErasingGrant = InferEntity<typeof ErasingGrant>;
