import { Migration } from '@mikro-orm/migrations';

/**
 * The tiers of memory. `facts` has few rows yet, but takes only what needs no time under its lock; its indexes follow in
 * the next migration.
 */
export class Migration20261125000001 extends Migration {
  override name = 'Migration20261125000001';

  override up(): void {
    // Trusted extensions: whoever may create in the database may create them. They may be in any schema already.
    for (const extension of ['unaccent', 'pg_trgm', 'btree_gin'])
      this.addSql(`create extension if not exists ${extension}`);
    this.addSql(SEARCH_TEXT);
    this.addSql(
      `create function event_hash(account uuid, event text) returns bytea language sql immutable parallel safe as
$$ select sha256(convert_to(account || ':' || event, 'UTF8')) $$`,
    );
    for (const statement of TABLES) this.addSql(statement);
    this.addSql(
      `alter table "facts" add "origin" text not null default 'human', add "recorded_at" timestamptz(3) not null default now(), add "invalidated_at" timestamptz(3) null, add "revision_of" uuid null, add "stale_at" timestamptz(3) null, alter column "episode_ids" set default '{}';`,
    );
  }

  override down(): void {
    for (const table of ['memory_tombstones', 'memory_links', 'episodes', 'raw_memories'])
      this.addSql(`drop table "${table}"`);
    this.addSql(
      `alter table "facts" drop column "origin", drop column "recorded_at", drop column "invalidated_at", drop column "revision_of", drop column "stale_at", alter column "episode_ids" drop default`,
    );
    this.addSql('drop function event_hash; drop function search_text');
  }
}

/**
 * Text as it is searched: compatibility forms, case and accents do not count. An index needs an immutable function, and
 * names with their schema, because maintenance runs without a search path. `unaccent` is stable only because its
 * dictionary could be changed. Its cost stands for what is done with the text as well: without an index a long text takes
 * milliseconds. Normalizing takes most of the function's own time, and ASCII does not need it.
 */
const SEARCH_TEXT = `do $do$
begin
  execute (
    select format(
      'create function search_text(text) returns text language sql immutable strict parallel safe cost 20000 as
$$ select lower(%1$I.unaccent(%2$L::regdictionary,
     case when octet_length($1) = length($1) then $1 else normalize($1, nfkc) end)) $$', nspname, format('%I.unaccent', nspname))
      from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'unaccent');
end $do$`;

const TABLES = [
  `create table "raw_memories" ("id" uuid not null, "account_id" uuid not null, "content" text not null, "kind" text not null, "role" text null, "origin" text not null, "agent" text null, "session_id" text null, "source" text not null, "event_id" text null, "occurred_at" timestamptz(3) not null, "tags" text[] not null, "metadata" jsonb not null, "promoted_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
  `create table "episodes" ("id" uuid not null, "account_id" uuid not null, "title" text not null, "summary" text not null, "started_at" timestamptz(3) not null, "ended_at" timestamptz(3) not null, "status" text not null default 'draft', "origin" text not null, "tags" text[] not null, "salience" double precision not null default 0.5, "model" text null, "promoted_at" timestamptz(3) null, "stale_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
  `create table "memory_links" ("account_id" uuid not null, "from_id" uuid not null, "to_id" uuid not null, "relation" text not null, "from_tier" text not null, "to_tier" text not null, "quote" text null, primary key ("account_id", "from_id", "to_id", "relation"));`,
  `create table "memory_tombstones" ("account_id" uuid not null, "event_hash" bytea not null, primary key ("account_id", "event_hash"));`,
  ...['raw_memories', 'episodes', 'memory_links', 'memory_tombstones'].map(
    (table) =>
      `alter table "${table}" add constraint "${table}_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
  ),
  `create index "raw_memories_recent" on "raw_memories" ("account_id", "occurred_at", "id");`,
  `create index "raw_memories_session" on "raw_memories" ("account_id", "session_id", "occurred_at", "id") where session_id is not null;`,
  `create unique index "raw_memories_event" on "raw_memories" ("account_id", "event_id") where event_id is not null;`,
  `create index "raw_memories_search" on "raw_memories" using gin ("account_id", "tags", to_tsvector('simple', search_text("content")));`,
  `create index "raw_memories_trigrams" on "raw_memories" using gin ("account_id", search_text("content") gin_trgm_ops);`,
  `create index "episodes_recent" on "episodes" ("account_id", "ended_at", "id");`,
  `create index "episodes_search" on "episodes" using gin ("account_id", "tags", to_tsvector('simple', search_text("title" || ' ' || "summary")));`,
  `create index "episodes_trigrams" on "episodes" using gin ("account_id", search_text("title" || ' ' || "summary") gin_trgm_ops);`,
  `create index "memory_links_to" on "memory_links" ("account_id", "to_id");`,
];
