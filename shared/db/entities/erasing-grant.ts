import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';

/**
 * Predictions that an account's erasure still has to erase: those of a connection that were admitted before its grant
 * ended. Stored because the connection itself may belong to another account a moment later.
 */
export const ErasingGrant = defineEntity({
  name: 'ErasingGrant',
  tableName: 'erasing_grants',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    connectionId: p.uuid().primary(),
    /** The grant, when the connection belongs to another account now; 0 for all grants. */
    grantRevision: p.integer().primary(),
    /** When the grant had ended; during the erasure, the time of the latest prediction that it has not come to. */
    endedAt: p.datetime(3),
  },
  indexes: [{ name: 'erasing_grants_connection', properties: ['connectionId'] }],
});
export type ErasingGrant = InferEntity<typeof ErasingGrant>;
