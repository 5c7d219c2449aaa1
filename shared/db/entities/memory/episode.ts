import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '../account.ts';
import { TextArray } from '../text-array.ts';

/** A stretch of raw rows, summarised. */
export const Episode = defineEntity({
  name: 'Episode',
  tableName: 'episodes',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    /** Empty while the episode is stale, like `summary`. */
    title: p.text(),
    summary: p.text(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3),
    status: p.text().default('draft'),
    /** Who summarised it: `DERIVED_ORIGINS`. */
    origin: p.text(),
    tags: p.type(TextArray).$type<string[]>(),
    /** From 0 to 1. */
    salience: p.double().$type<number>().default(0.5),
    model: p.text().nullable(),
    promotedAt: p.datetime(3).nullable(),
    /** How often promotion has failed about it, and when the scheduler's tries again. */
    failures: p.integer().default(0),
    retryAt: p.datetime(3).nullable(),
    /** When its text was erased, because one of its sources was deleted. */
    staleAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    { name: 'episodes_recent', properties: ['account', 'endedAt', 'id'] },
    {
      name: 'episodes_stale',
      expression: `create index "episodes_stale" on "episodes" ("account_id", "ended_at") where stale_at is not null`,
    },
    {
      name: 'episodes_unpromoted',
      expression: `create index "episodes_unpromoted" on "episodes" ("account_id", "ended_at", "id") where promoted_at is null`,
    },
    {
      name: 'episodes_search',
      expression: `create index "episodes_search" on "episodes" using gin ("account_id", ("account_id"::text), "tags", to_tsvector('simple', search_text("title" || ' ' || "summary")))`,
    },
    {
      name: 'episodes_trigrams',
      expression: `create index "episodes_trigrams" on "episodes" using gin ("account_id", search_text("title" || ' ' || "summary") gin_trgm_ops)`,
    },
  ],
});
export type Episode = InferEntity<typeof Episode>;
