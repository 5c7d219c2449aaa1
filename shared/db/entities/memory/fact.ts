import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '../account.ts';
import { TextArray } from '../text-array.ts';

/**
 * One statement about the account. World time (`validFrom`, `validTo`) is when it holds; system time (`recordedAt`,
 * `invalidatedAt`) is when it was believed. It is superseded, never overwritten.
 */
export const Fact = defineEntity({
  name: 'Fact',
  tableName: 'facts',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    /** Empty while the fact is stale. */
    text: p.text(),
    kind: p.text().nullable(),
    /** What it settles, of which a person has one at a time (`tool.editor`): another value supersedes it. */
    slot: p.text().nullable(),
    /** Who stated it: `FACT_ORIGINS`. */
    origin: p.text().default('human'),
    tags: p.type(TextArray).$type<string[]>(),
    confidence: p.double().$type<number>().default(1),
    validFrom: p.datetime(3).nullable(),
    validTo: p.datetime(3).nullable(),
    recordedAt: p.datetime(3).defaultRaw('now()'),
    invalidatedAt: p.datetime(3).nullable(),
    supersededBy: p.uuid().nullable(),
    /** Set on a former wording: the fact that a PATCH changed, which also supersedes it. */
    revisionOf: p.uuid().nullable(),
    /** When its text was erased, because it repeated a deleted source. */
    staleAt: p.datetime(3).nullable(),
    pinned: p.boolean().default(false),
    model: p.text().nullable(),
    /** How often promotion has failed about it, and when the scheduler's tries again. */
    failures: p.integer().default(0),
    retryAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    {
      name: 'facts_current',
      expression: `create index "facts_current" on "facts" ("account_id", "id") where superseded_by is null`,
    },
    { name: 'facts_account', properties: ['account', 'id'] },
    {
      name: 'facts_superseded',
      expression: `create index "facts_superseded" on "facts" ("superseded_by") where superseded_by is not null`,
    },
    {
      name: 'facts_pinned',
      expression: `create index "facts_pinned" on "facts" ("account_id", "id") where pinned and superseded_by is null`,
    },
    {
      name: 'facts_replaced',
      expression: `create index "facts_replaced" on "facts" ("account_id") where superseded_by is not null and revision_of is null`,
    },
    {
      name: 'facts_ended',
      expression: `create index "facts_ended" on "facts" ("account_id", "valid_to") where valid_to is not null and superseded_by is null`,
    },
    {
      name: 'facts_begun',
      expression: `create index "facts_begun" on "facts" ("account_id", "valid_from") where valid_from is not null and superseded_by is null`,
    },
    {
      name: 'facts_slot',
      expression: `create index "facts_slot" on "facts" ("account_id", "slot") where slot is not null`,
    },
    {
      name: 'facts_stale',
      expression: `create index "facts_stale" on "facts" ("account_id", "id") where stale_at is not null`,
    },
    {
      name: 'facts_search',
      expression: `create index "facts_search" on "facts" using gin ("account_id", ("account_id"::text), "tags", to_tsvector('simple', search_text("text")))`,
    },
    {
      name: 'facts_trigrams',
      expression: `create index "facts_trigrams" on "facts" using gin ("account_id", ("account_id"::text), search_text("text") gin_trgm_ops)`,
    },
  ],
});
export type Fact = InferEntity<typeof Fact>;
