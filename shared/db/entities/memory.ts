import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { expressionIndexes } from './expression-indexes.ts';
import { TextArray } from './text-array.ts';

const promotionTries = () => ({
  /** Number of consecutive promotions that failed on this row. */
  failures: p.integer().default(0),
  retryAt: p.datetime(3).nullable(),
});

/** One recorded message or event. Its content never changes. Promotion to an episode changes only other columns. */
export const RawMemory = defineEntity({
  name: 'RawMemory',
  tableName: 'raw_memories',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    content: p.text(),
    kind: p.text(),
    role: p.text().nullable(),
    /** The author of the words: `RAW_ORIGINS`. Only `human` is evidence for a fact. */
    origin: p.text(),
    /** Who brought the row: `login`, `import` or the id of a key. */
    witness: p.text().nullable(),
    agent: p.text().nullable(),
    sessionId: p.text().nullable(),
    source: p.text(),
    /** Id of the recorded event that the row was made from. */
    eventId: p.text().nullable(),
    occurredAt: p.datetime(3),
    /** What it was about: see `domain/project.ts`. Null if that is unknown. */
    project: p.text().nullable(),
    tags: p.type(TextArray).$type<string[]>(),
    metadata: p.json<Record<string, unknown>>(),
    promotedAt: p.datetime(3).nullable(),
    ...promotionTries(),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'raw_memories_recent', properties: ['account', 'occurredAt', 'id'] },
    { name: 'raw_memories_created', properties: ['account', 'createdAt'] },
    { name: 'raw_memories_project', properties: ['account', 'project', 'occurredAt', 'id'] },
    {
      name: 'raw_memories_event',
      expression: `create unique index "raw_memories_event" on "raw_memories" ("account_id", "event_id") where event_id is not null`,
    },
    ...expressionIndexes('raw_memories', {
      unpromoted: `("account_id", "occurred_at", "id") where promoted_at is null`,
      failed: `("account_id", "occurred_at", "id") where failures > 0`,
      session: `("account_id", "session_id", "occurred_at", "id") where session_id is not null`,
      predicted: `("account_id", "occurred_at") where origin in ('accepted_prediction', 'edited_prediction')`,
      replies: `("account_id", "occurred_at", "id") where kind = 'reply' and origin = 'human'`,
      witness: `("account_id", "witness") where witness not in ('login', 'import')`,
      search: `using gin ("account_id", ("account_id"::text), "tags", to_tsvector('english', search_terms(coalesce("agent" || ' ', '') || "content")))`,
      trigrams: `using gin ("account_id", search_text("content") gin_trgm_ops)`,
    }),
  ],
});
export type RawMemory = InferEntity<typeof RawMemory>;

/** A stretch of raw rows, summarised. */
export const Episode = defineEntity({
  name: 'Episode',
  tableName: 'episodes',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    /** `title` and `summary` are empty while the episode is stale. */
    title: p.text(),
    summary: p.text(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3),
    status: p.text().default('draft'),
    /** The author of the summary: `DERIVED_ORIGINS`. */
    origin: p.text(),
    /** Who brought the text, as of a raw row; null if Forecue derived it. */
    witness: p.text().nullable(),
    /** The project of its rows, if they have one in common. */
    project: p.text().nullable(),
    tags: p.type(TextArray).$type<string[]>(),
    /** Importance, from 0 to 1. */
    salience: p.double().$type<number>().default(0.5),
    model: p.text().nullable(),
    promotedAt: p.datetime(3).nullable(),
    ...promotionTries(),
    /** Time at which its text was erased, because one of its sources was deleted. */
    staleAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    { name: 'episodes_recent', properties: ['account', 'endedAt', 'id'] },
    { name: 'episodes_created', properties: ['account', 'createdAt'] },
    ...expressionIndexes('episodes', {
      stale: `("account_id", "ended_at") where stale_at is not null`,
      unpromoted: `("account_id", "ended_at", "id") where promoted_at is null`,
      search: `using gin ("account_id", ("account_id"::text), "tags", to_tsvector('english', search_terms("title" || ' ' || "summary")))`,
      trigrams: `using gin ("account_id", search_text("title" || ' ' || "summary") gin_trgm_ops)`,
    }),
  ],
});
export type Episode = InferEntity<typeof Episode>;

/**
 * One statement about the account. World time (`validFrom`, `validTo`) is when it holds; system time (`recordedAt`,
 * `invalidatedAt`) is when memory believed it. A contradicting fact supersedes it.
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
    /**
     * Subject that has one value at a time, such as `tool.editor`. A fact with another value for it supersedes this
     * fact.
     */
    slot: p.text().nullable(),
    /** The author: `DERIVED_ORIGINS`. */
    origin: p.text().default('human'),
    /** Who brought the text, as of a raw row; null if Forecue derived it. */
    witness: p.text().nullable(),
    /** The project of its sources, if they have one in common. */
    project: p.text().nullable(),
    tags: p.type(TextArray).$type<string[]>(),
    confidence: p.double().$type<number>().default(1),
    validFrom: p.datetime(3).nullable(),
    validTo: p.datetime(3).nullable(),
    recordedAt: p.datetime(3).defaultRaw('now()'),
    invalidatedAt: p.datetime(3).nullable(),
    supersededBy: p.uuid().nullable(),
    /** The future fact that replaces this fact at `validTo`. Until then, this fact holds and is not superseded. */
    endedBy: p.uuid().nullable(),
    /**
     * Id of a fact, if this row only keeps the fact's earlier wording. The fact has the new wording, and supersedes
     * this row.
     */
    revisionOf: p.uuid().nullable(),
    /** Time at which its text was erased, because it may have repeated a deleted source. */
    staleAt: p.datetime(3).nullable(),
    pinned: p.boolean().default(false),
    model: p.text().nullable(),
    ...promotionTries(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    { name: 'facts_account', properties: ['account', 'id'] },
    ...expressionIndexes('facts', {
      current: `("account_id", "id") where superseded_by is null`,
      created: `("account_id", "created_at") where revision_of is null`,
      superseded: `("superseded_by") where superseded_by is not null`,
      ending: `("ended_by") where ended_by is not null`,
      pinned: `("account_id", "id") where pinned and superseded_by is null`,
      replaced: `("account_id") where superseded_by is not null and revision_of is null`,
      ended: `("account_id", "valid_to") where valid_to is not null and superseded_by is null`,
      begun: `("account_id", "valid_from") where valid_from is not null and superseded_by is null`,
      slot: `("account_id", "slot") where slot is not null`,
      stale: `("account_id", "id") where stale_at is not null`,
      search: `using gin ("account_id", ("account_id"::text), "tags", to_tsvector('english', search_terms("text")))`,
      trigrams: `using gin ("account_id", ("account_id"::text), search_text("text") gin_trgm_ops)`,
    }),
  ],
});
export type Fact = InferEntity<typeof Fact>;

/** A person's description of themselves. */
export const Profile = defineEntity({
  name: 'Profile',
  tableName: 'profiles',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    data: p.json<Record<string, unknown>>(),
    summary: p.text().default(''),
    /** Number of times that the profile was written. */
    revision: p.bigint('number').default(1),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});
export type Profile = InferEntity<typeof Profile>;

/**
 * A link from a memory row to one of its sources. There are no foreign keys to the rows, which are in three tables.
 * Whatever deletes rows also deletes their links, except the `forgotten` links of a fact (`stores/memory/delete.ts`).
 */
export const MemoryLink = defineEntity({
  name: 'MemoryLink',
  tableName: 'memory_links',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    fromId: p.uuid().primary(),
    toId: p.uuid().primary(),
    /** `derived_from`, or `forgotten` if the person deleted the fact `fromId`. */
    relation: p.text().primary(),
    fromTier: p.text(),
    toTier: p.text(),
    /** Words of the source that support the fact. */
    quote: p.text().nullable(),
  },
  indexes: [
    { name: 'memory_links_to', properties: ['account', 'toId'] },
    ...expressionIndexes('memory_links', {
      said: `using gin (("account_id"::text), to_tsvector('english', search_terms("quote"))) where quote is not null`,
    }),
  ],
});
export type MemoryLink = InferEntity<typeof MemoryLink>;

/** A recorded event whose raw row was deleted: no raw row is made from it again. */
export const MemoryTombstone = defineEntity({
  name: 'MemoryTombstone',
  tableName: 'memory_tombstones',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** SHA-256 of the ids of the account and the event, as the SQL function `event_hash` computes it. */
    eventHash: p.blob().primary(),
  },
});
