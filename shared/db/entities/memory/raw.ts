import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '../account.ts';
import { TextArray } from '../text-array.ts';

/** One thing that was said or happened, as it was. Only promotion changes it (`promotedAt`). */
export const RawMemory = defineEntity({
  name: 'RawMemory',
  tableName: 'raw_memories',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    content: p.text(),
    kind: p.text(),
    /** Who spoke. */
    role: p.text().nullable(),
    /** Who wrote the words: `RAW_ORIGINS`. Only `human` is evidence for a fact. */
    origin: p.text(),
    agent: p.text().nullable(),
    sessionId: p.text().nullable(),
    source: p.text(),
    /** The recorded event that it was made from. */
    eventId: p.text().nullable(),
    occurredAt: p.datetime(3),
    tags: p.type(TextArray).$type<string[]>(),
    metadata: p.json<Record<string, unknown>>(),
    promotedAt: p.datetime(3).nullable(),
    /** How often promotion has failed about it, and when the scheduler's tries again. */
    failures: p.integer().default(0),
    retryAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'raw_memories_recent', properties: ['account', 'occurredAt', 'id'] },
    {
      name: 'raw_memories_unpromoted',
      expression: `create index "raw_memories_unpromoted" on "raw_memories" ("account_id", "occurred_at", "id") where promoted_at is null`,
    },
    {
      name: 'raw_memories_failed',
      expression: `create index "raw_memories_failed" on "raw_memories" ("account_id", "occurred_at", "id") where failures > 0`,
    },
    {
      name: 'raw_memories_session',
      expression: `create index "raw_memories_session" on "raw_memories" ("account_id", "session_id", "occurred_at", "id") where session_id is not null`,
    },
    {
      name: 'raw_memories_event',
      expression: `create unique index "raw_memories_event" on "raw_memories" ("account_id", "event_id") where event_id is not null`,
    },
    {
      name: 'raw_memories_predicted',
      expression: `create index "raw_memories_predicted" on "raw_memories" ("account_id", "occurred_at") where origin in ('accepted_prediction', 'edited_prediction')`,
    },
    {
      name: 'raw_memories_replies',
      expression: `create index "raw_memories_replies" on "raw_memories" ("account_id", "occurred_at", "id") where kind = 'reply' and origin = 'human'`,
    },
    {
      name: 'raw_memories_search',
      expression: `create index "raw_memories_search" on "raw_memories" using gin ("account_id", ("account_id"::text), "tags", to_tsvector('simple', search_text("content")))`,
    },
    {
      name: 'raw_memories_trigrams',
      expression: `create index "raw_memories_trigrams" on "raw_memories" using gin ("account_id", search_text("content") gin_trgm_ops)`,
    },
  ],
});
export type RawMemory = InferEntity<typeof RawMemory>;
