import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';

/** What an account says about itself. Whoever writes to it, or to a fact, counts the account's `memoryRevision` up in the same transaction. */
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

/** One statement about the account. A superseded one keeps its history. */
export const Fact = defineEntity({
  name: 'Fact',
  tableName: 'facts',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    text: p.text(),
    kind: p.text().nullable(),
    tags: p.array(),
    confidence: p.double().default(1),
    episodeIds: p.array().columnType('uuid[]'),
    validFrom: p.datetime(3).nullable(),
    validTo: p.datetime(3).nullable(),
    supersededBy: p.uuid().nullable(),
    pinned: p.boolean().default(false),
    model: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    {
      name: 'facts_current',
      expression: `create index "facts_current" on "facts" ("account_id", "id") where superseded_by is null`,
    },
  ],
});
export type Fact = InferEntity<typeof Fact>;
