import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { AccessEntry, ReadTier } from '../../schemas/accesses.ts';
import { Account } from './account.ts';

/** What a credential read of a tier of an account on a day, by UTC. Kept for 400 days. */
export const AccessDay = defineEntity({
  name: 'AccessDay',
  tableName: 'access_days',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    day: p.date().primary().index(),
    /** Id of the key, the grant or the connection; of the account for its log-ins. */
    readerId: p.uuid().primary(),
    tier: p.text().$type<ReadTier>().primary(),
    reader: p.text().$type<AccessEntry['reader']>(),
    name: p.text(),
    reads: p.bigint('number'),
    rows: p.bigint('number'),
    lastAt: p.datetime(3),
  },
});
export type AccessDay = InferEntity<typeof AccessDay>;
