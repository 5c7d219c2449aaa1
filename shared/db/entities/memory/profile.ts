import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '../account.ts';

/** What an account says about itself. */
export const Profile = defineEntity({
  name: 'Profile',
  tableName: 'profiles',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    data: p.json<Record<string, unknown>>(),
    summary: p.text().default(''),
    /** Counts its writes. */
    revision: p.bigint('number').default(1),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});
export type Profile = InferEntity<typeof Profile>;
