import { Migration } from '@mikro-orm/migrations';

/** The first tables. SQL functions and triggers are not migrations: `shared/db/functions.ts` installs them. */
export class Migration20261128000001 extends Migration {
  override name = 'Migration20261128000001';

  override up(): void {
    for (const statements of [
      EXTENSIONS,
      SEARCH_TEXT,
      ACCOUNTS,
      APPS,
      RECORDINGS,
      MEMORY,
      REPLIES,
      WORK,
      PROVIDERS,
      WEBHOOKS,
      FUNCTIONS,
    ])
      this.addSql(statements);
  }
}

/** Trusted extensions: any role that may create in the database may create them. Existing ones may be in any schema. */
const EXTENSIONS = `
  create extension if not exists unaccent;
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
`;

/** Scripts that write no spaces between words, and Korean, which writes particles at the end of them. */
const UNSPACED = String.raw`[\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]`;

/**
 * `search_text` normalizes a text for search, so that compatibility forms, case and accents make no difference.
 * `search_terms` also sets blanks between the pairs of adjacent characters of `UNSPACED`, which are looked up as words.
 * Unlike the other SQL functions, a migration creates them, because indexes are built on them: with another body they
 * would have to be rebuilt.
 *
 * An index needs immutable functions, which must qualify names with their schema, because maintenance runs without a
 * search path. `unaccent` is declared stable only because its dictionary could be changed. The declared cost includes
 * what a query then does with the text: without an index a long text takes milliseconds. Normalizing takes most of the
 * functions' own time, and ASCII does not need it.
 */
const SEARCH_TEXT = `
  do $do$ declare
    _text text;
  begin
    select format(
        'lower(%1$I.unaccent(%2$L::regdictionary,
           case when octet_length($1) = length($1) then $1 else normalize($1, nfkc) end))', nspname, format('%I.unaccent', nspname))
      into _text
      from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'unaccent';
    execute format(
      'create function search_text(text) returns text language sql immutable strict parallel safe cost 20000 as
$$ select %s $$', _text);
    execute format(
      'create function search_terms(text) returns text language sql immutable strict parallel safe cost 20000 as
$$ select regexp_replace(regexp_replace(%s, %L, %L, %L), %L, %L, %L) $$',
      _text, '${UNSPACED}+', ' \\& ', 'g', '(?<=${UNSPACED})${UNSPACED}(?=${UNSPACED})', '\\& \\&', 'g');
  end $do$;
`;

const ACCOUNTS = `
  create table accounts (
    id uuid primary key,
    email text not null,
    email_key text not null constraint accounts_email_key_unique unique,
    name text not null default '',
    password_hash text not null,
    active boolean not null default true,
    login_generation int not null default 0,
    memory_revision bigint not null default '0',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    erasing_at timestamptz(3),
    precision_target float8,
    threshold_floor float8,
    automatic boolean not null default true,
    deny boolean not null default false,
    check_share float8 not null default 0.03,
    daily_note boolean not null default true,
    noted_at timestamptz(3)
  );
  create index accounts_erasing on accounts (erasing_at) where erasing_at is not null;
  create table service_keys (
    id uuid primary key,
    account_id uuid not null
      constraint service_keys_account_id_foreign references accounts (id) on delete cascade,
    hash bytea not null constraint service_keys_hash_unique unique,
    prefix text not null,
    label text not null,
    scopes text[],
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    threshold_floor float8,
    expires_at timestamptz(3)
  );
  create index service_keys_account_id_index on service_keys (account_id);
  create table refresh_tokens (
    hash bytea primary key,
    account_id uuid not null
      constraint refresh_tokens_account_id_foreign references accounts (id) on delete cascade,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    id uuid not null constraint refresh_tokens_id_unique unique,
    client text,
    system text,
    last_used_at timestamptz(3) not null default now()
  );
  create index refresh_tokens_account_id_index on refresh_tokens (account_id);
  create index refresh_tokens_expires_at_index on refresh_tokens (expires_at);
  create table ended_log_ins (
    id uuid primary key,
    account_id uuid not null
      constraint ended_log_ins_account_id_foreign references accounts (id) on delete cascade,
    ended_at timestamptz(3) not null
  );
  create index ended_log_ins_account_id_index on ended_log_ins (account_id);
  create index ended_log_ins_ended_at_index on ended_log_ins (ended_at);
  create table web_sessions (
    hash bytea primary key,
    account_id uuid not null
      constraint web_sessions_account_id_foreign references accounts (id) on delete cascade,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null
  );
  create index web_sessions_account_id_index on web_sessions (account_id);
  create index web_sessions_expires_at_index on web_sessions (expires_at);
  create table password_resets (
    hash bytea primary key,
    account_id uuid not null
      constraint password_resets_account_id_foreign references accounts (id) on delete cascade,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null
  );
  create index password_resets_account_id_index on password_resets (account_id);
  create index password_resets_expires_at_index on password_resets (expires_at);
  create table email_changes (
    hash bytea primary key,
    account_id uuid not null
      constraint email_changes_account_id_foreign references accounts (id) on delete cascade,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    email text not null
  );
  create index email_changes_account_id_index on email_changes (account_id);
  create index email_changes_expires_at_index on email_changes (expires_at);
  create table passkeys (
    id uuid primary key,
    account_id uuid not null
      constraint passkeys_account_id_foreign references accounts (id) on delete cascade,
    credential_id text not null constraint passkeys_credential_id_unique unique,
    public_key bytea not null,
    counter bigint not null,
    transports text[] not null,
    name text not null,
    backed_up boolean not null,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3)
  );
  create index passkeys_account_id_index on passkeys (account_id);
  create table passkey_challenges (
    hash bytea primary key,
    account_id uuid
      constraint passkey_challenges_account_id_foreign references accounts (id) on delete cascade,
    expires_at timestamptz(3) not null
  );
  create index passkey_challenges_account_id_index on passkey_challenges (account_id);
  create index passkey_challenges_expires_at_index on passkey_challenges (expires_at);
  create table login_networks (
    account_id uuid not null
      constraint login_networks_account_id_foreign references accounts (id) on delete cascade,
    hash bytea not null,
    expires_at timestamptz(3) not null,
    primary key (account_id, hash)
  );
  create index login_networks_expires_at_index on login_networks (expires_at);
  create table access_days (
    account_id uuid not null
      constraint access_days_account_id_foreign references accounts (id) on delete cascade,
    day date not null,
    reader_id uuid not null,
    tier text not null,
    reader text not null,
    name text not null,
    reads bigint not null,
    rows bigint not null,
    last_at timestamptz(3) not null,
    primary key (account_id, day, reader_id, tier)
  );
  create index access_days_day_index on access_days (day);
  create table grants (
    id uuid primary key,
    account_id uuid not null constraint grants_account_id_foreign references accounts (id) on delete cascade,
    client_id text not null,
    client_name text not null,
    scopes text[] not null,
    resource text not null,
    refreshes int not null default 0,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3) not null
  );
  create index grants_account_id_index on grants (account_id);
  create index grants_last_used_at_index on grants (last_used_at);
  create table grant_codes (
    hash bytea primary key,
    account_id uuid not null
      constraint grant_codes_account_id_foreign references accounts (id) on delete cascade,
    client_id text not null,
    client_name text not null,
    redirect_uri text not null,
    code_challenge varchar(43) not null,
    scopes text[] not null,
    resource text not null,
    expires_at timestamptz(3) not null,
    grant_id uuid
  );
  create index grant_codes_account_id_index on grant_codes (account_id);
  create index grant_codes_expires_at_index on grant_codes (expires_at);
  create table account_usage (
    account_id uuid primary key
      constraint account_usage_account_id_foreign references accounts (id) on update cascade on delete cascade,
    sessions bigint not null default '0',
    events bigint not null default '0',
    bytes bigint not null default '0'
  ) with (fillfactor = 50);
  create table invites (
    id uuid primary key,
    hash bytea not null constraint invites_hash_unique unique,
    created_at timestamptz(3) not null,
    used_at timestamptz(3)
  );
  create table waitlist (
    email_key text primary key,
    email text not null,
    created_at timestamptz(3) not null
  );
`;

const APPS = `
  create table apps (
    id uuid primary key,
    name text not null,
    plan text not null constraint apps_plan_check check (plan in ('sandbox', 'paid')),
    cap_cents bigint constraint apps_cap_cents_check check (cap_cents >= 0),
    active boolean not null default true,
    redirect_uris text[] not null,
    min_confidence float8 not null default 0.3,
    supersede boolean not null default true,
    on_disconnect text not null default 'continue'
      constraint apps_on_disconnect_check check (on_disconnect in ('continue', 'cancel')),
    disabled text[] not null,
    fingerprint_key bytea not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    native boolean not null default false,
    switched_off text[] not null,
    owner_id uuid constraint apps_owner_id_foreign references accounts (id) on delete set null
  );
  create index apps_owner_id_index on apps (owner_id);
  create table usage_days (
    app_id uuid not null,
    day date not null,
    settled int not null,
    primary key (app_id, day)
  );
  create index usage_days_day_index on usage_days (day);
  create table app_keys (
    id uuid primary key,
    app_id uuid not null constraint app_keys_app_id_foreign references apps (id),
    hash bytea not null constraint app_keys_hash_unique unique,
    prefix text not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3)
  );
  create table usage (
    app_id uuid not null,
    month varchar(7) not null,
    reserved int not null default 0,
    settled int not null default 0,
    paid_reserved int not null default 0,
    paid_settled int not null default 0,
    paid_reserved_microcents bigint not null default '0',
    paid_settled_microcents bigint not null default '0',
    page int not null default 0,
    writes int not null default 0,
    primary key (app_id, month, page),
    constraint usage_reserved_check check (reserved >= 0 and paid_reserved >= 0 and paid_reserved_microcents >= 0)
  ) with (fillfactor = 50);
  create table connections (
    id uuid primary key,
    app_id uuid not null constraint connections_app_id_foreign references apps (id),
    user_id text not null,
    account_id uuid constraint connections_account_id_foreign references accounts (id) on delete set null,
    status text not null constraint connections_status_check check (status in ('connected', 'revoked')),
    grant_revision int not null,
    created_at timestamptz(3) not null,
    granted_at timestamptz(3) not null,
    revoked_at timestamptz(3),
    account_grant int not null default 0,
    memory text not null default 'all' constraint connections_memory_check check (memory in ('all', 'facts')),
    projects text[],
    ends_at timestamptz(3),
    constraint connections_app_user unique (app_id, user_id)
  );
  create index connections_account_id_index on connections (account_id);
  create index connections_ends on connections (ends_at) where status = 'connected' and ends_at is not null;
  create table connection_attempts (
    id uuid primary key,
    app_id uuid not null constraint connection_attempts_app_id_foreign references apps (id),
    user_id text not null,
    redirect_uri text not null,
    state text not null,
    code_challenge varchar(43) not null,
    status text not null default 'pending'
      constraint connection_attempts_status_check check (status in ('pending', 'approved', 'denied', 'exchanged', 'burned')),
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    account_id uuid
      constraint connection_attempts_account_id_foreign references accounts (id) on delete cascade,
    code_hash bytea,
    code_expires_at timestamptz(3),
    mismatches smallint not null default 0,
    connection_id uuid
      constraint connection_attempts_connection_id_foreign references connections (id) on delete set null,
    grant_revision int,
    answer text,
    memory text not null default 'all' constraint connection_attempts_memory_check check (memory in ('all', 'facts')),
    projects text[],
    ends_at timestamptz(3)
  );
  create index connection_attempts_account_id_index on connection_attempts (account_id);
  create index connection_attempts_expires on connection_attempts (expires_at);
  create index connection_attempts_pending on connection_attempts (app_id, expires_at)
    where status = 'pending';
  create table erasing_grants (
    account_id uuid not null
      constraint erasing_grants_account_id_foreign references accounts (id) on delete cascade,
    connection_id uuid not null,
    grant_revision int not null,
    ended_at timestamptz(3) not null,
    primary key (account_id, connection_id, grant_revision)
  );
  create index erasing_grants_connection on erasing_grants (connection_id);
  create table ending_connections (
    connection_id uuid not null,
    ended_at timestamptz(3) not null,
    primary key (connection_id)
  );
  create table prediction_events (
    app_id uuid not null,
    event_id varchar(80) not null,
    prediction_id uuid not null,
    request_id varchar(80) not null,
    user_id text not null,
    kind text not null
      constraint prediction_events_kind_check check (kind in ('presented', 'accepted', 'edited', 'dismissed', 'submitted')),
    recorded_at timestamptz(3) not null,
    suggested boolean,
    retained real,
    primary key (app_id, event_id)
  );
  create index prediction_events_person on prediction_events (app_id, user_id, recorded_at);
  create index prediction_events_prediction on prediction_events (prediction_id);
  create index prediction_events_recorded on prediction_events (recorded_at);
  create table refusals (
    hour timestamptz(3) not null,
    app_id uuid not null,
    code text not null,
    calls int not null,
    last_at timestamptz(3) not null,
    primary key (hour, app_id, code)
  );
`;

const RECORDINGS = `
  create table recording_sessions (
    id text primary key,
    account_id uuid not null,
    started_at timestamptz(3) not null,
    source text not null,
    source_detail text,
    project text,
    ended_at timestamptz(3),
    created_at timestamptz(3) not null,
    last_arrival bigint not null,
    synced_arrival bigint not null default '0'
  );
  create index recording_sessions_recent on recording_sessions (account_id, last_arrival);
  create index recording_sessions_unsynced on recording_sessions (account_id, last_arrival)
    where last_arrival > synced_arrival;
  create table recording_events (
    account_id uuid not null,
    id text not null,
    arrival bigserial,
    session_id text not null,
    type text not null,
    occurred_at timestamptz(3) not null,
    received_at timestamptz(3) not null,
    body text not null,
    witness text,
    reported boolean not null default false,
    primary key (account_id, id)
  );
  create index recording_events_arrival on recording_events (session_id, arrival);
  create index recording_events_session on recording_events (session_id, occurred_at, arrival);
  create index recording_events_permissions on recording_events (account_id, occurred_at)
    where type = 'agent.permission' and not reported;
`;

const MEMORY = `
  create table profiles (
    account_id uuid primary key
      constraint profiles_account_id_foreign references accounts (id) on update cascade on delete cascade,
    data jsonb not null,
    summary text not null default '',
    revision bigint not null default '1',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create table raw_memories (
    id uuid primary key,
    account_id uuid not null
      constraint raw_memories_account_id_foreign references accounts (id) on delete cascade,
    content text not null,
    kind text not null,
    role text,
    origin text not null,
    witness text,
    agent text,
    session_id text,
    source text not null,
    event_id text,
    occurred_at timestamptz(3) not null,
    project text,
    tags text[] not null,
    metadata jsonb not null,
    promoted_at timestamptz(3),
    created_at timestamptz(3) not null,
    failures int not null default 0,
    retry_at timestamptz(3)
  );
  create index raw_memories_created on raw_memories (account_id, created_at);
  create unique index raw_memories_event on raw_memories (account_id, event_id) where event_id is not null;
  create index raw_memories_failed on raw_memories (account_id, occurred_at, id) where failures > 0;
  create index raw_memories_predicted on raw_memories (account_id, occurred_at)
    where origin in ('accepted_prediction', 'edited_prediction');
  create index raw_memories_project on raw_memories (account_id, project, occurred_at, id);
  create index raw_memories_recent on raw_memories (account_id, occurred_at, id);
  create index raw_memories_replies on raw_memories (account_id, occurred_at, id)
    where kind = 'reply' and origin = 'human';
  create index raw_memories_search on raw_memories
    using gin (account_id, (account_id::text), tags, to_tsvector('english', search_terms(coalesce(agent || ' ', '') || content)));
  create index raw_memories_session on raw_memories (account_id, session_id, occurred_at, id)
    where session_id is not null;
  create index raw_memories_trigrams on raw_memories
    using gin (account_id, search_text(content) gin_trgm_ops);
  create index raw_memories_unpromoted on raw_memories (account_id, occurred_at, id)
    where promoted_at is null;
  create index raw_memories_witness on raw_memories (account_id, witness) where witness not in ('login', 'import');
  create table phrases (
    account_id uuid not null,
    raw_id uuid not null,
    sample smallint not null,
    line integer not null,
    written_at timestamptz(3) not null,
    occasion integer not null,
    words text collate "C" not null,
    written text
  );
  create index phrases_row on phrases (raw_id);
  create index phrases_words on phrases (account_id, sample, words);
  create table episodes (
    id uuid primary key,
    account_id uuid not null
      constraint episodes_account_id_foreign references accounts (id) on delete cascade,
    title text not null,
    summary text not null,
    started_at timestamptz(3) not null,
    ended_at timestamptz(3) not null,
    status text not null default 'draft',
    origin text not null,
    witness text,
    project text,
    tags text[] not null,
    salience float8 not null default 0.5,
    model text,
    promoted_at timestamptz(3),
    stale_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    failures int not null default 0,
    retry_at timestamptz(3)
  );
  create index episodes_created on episodes (account_id, created_at);
  create index episodes_recent on episodes (account_id, ended_at, id);
  create index episodes_search on episodes
    using gin (account_id, (account_id::text), tags, to_tsvector('english', search_terms(title || ' ' || summary)));
  create index episodes_stale on episodes (account_id, ended_at) where stale_at is not null;
  create index episodes_trigrams on episodes
    using gin (account_id, search_text(title || ' ' || summary) gin_trgm_ops);
  create index episodes_unpromoted on episodes (account_id, ended_at, id) where promoted_at is null;
  create table facts (
    id uuid primary key,
    account_id uuid not null constraint facts_account_id_foreign references accounts (id) on delete cascade,
    text text not null,
    kind text,
    project text,
    tags text[] not null,
    confidence float8 not null default 1,
    valid_from timestamptz(3),
    valid_to timestamptz(3),
    superseded_by uuid,
    pinned boolean not null default false,
    model text,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    origin text not null default 'human',
    witness text,
    recorded_at timestamptz(3) not null default now(),
    invalidated_at timestamptz(3),
    revision_of uuid,
    stale_at timestamptz(3),
    slot text,
    failures int not null default 0,
    retry_at timestamptz(3),
    ended_by uuid
  );
  create index facts_account on facts (account_id, id);
  create index facts_begun on facts (account_id, valid_from)
    where valid_from is not null and superseded_by is null;
  create index facts_created on facts (account_id, created_at) where revision_of is null;
  create index facts_current on facts (account_id, id) where superseded_by is null;
  create index facts_ended on facts (account_id, valid_to)
    where valid_to is not null and superseded_by is null;
  create index facts_ending on facts (ended_by) where ended_by is not null;
  create index facts_pinned on facts (account_id, id) where pinned and superseded_by is null;
  create index facts_replaced on facts (account_id) where superseded_by is not null and revision_of is null;
  create index facts_search on facts
    using gin (account_id, (account_id::text), tags, to_tsvector('english', search_terms(text)));
  create index facts_slot on facts (account_id, slot) where slot is not null;
  create index facts_stale on facts (account_id, id) where stale_at is not null;
  create index facts_superseded on facts (superseded_by) where superseded_by is not null;
  create index facts_trigrams on facts using gin (account_id, (account_id::text), search_text(text) gin_trgm_ops);
  create table memory_links (
    account_id uuid not null
      constraint memory_links_account_id_foreign references accounts (id) on delete cascade,
    from_id uuid not null,
    to_id uuid not null,
    relation text not null,
    from_tier text not null,
    to_tier text not null,
    quote text,
    primary key (account_id, from_id, to_id, relation)
  );
  create index memory_links_said on memory_links
    using gin ((account_id::text), to_tsvector('english', search_terms(quote))) where quote is not null;
  create index memory_links_to on memory_links (account_id, to_id);
  create table memory_tombstones (
    account_id uuid not null
      constraint memory_tombstones_account_id_foreign references accounts (id) on delete cascade,
    event_hash bytea not null,
    primary key (account_id, event_hash)
  );
  create table backups (
    taken_at timestamptz(3) primary key
  );
  create table erasures (
    account_id uuid not null,
    what text not null,
    subject text not null,
    erased_at timestamptz(3) not null,
    pending bool not null default false,
    primary key (account_id, what, subject)
  );
  create index erasures_erased_at on erasures (erased_at);
  create index erasures_pending on erasures (account_id) where pending;
`;

const REPLIES = `
  create table replies (
    id uuid primary key,
    account_id uuid not null,
    agent text not null,
    agent_input text not null,
    trial boolean not null default false,
    session_id text,
    project text,
    k int not null,
    threshold float8 not null,
    model text not null default '',
    status text not null default 'pending',
    error text,
    response text not null default '',
    confidence float8 not null default 0,
    reasoning text not null default '',
    candidates jsonb not null default '[]',
    features jsonb,
    latency_ms int not null default 0,
    input_tokens int not null default 0,
    output_tokens int not null default 0,
    context jsonb,
    acted_at timestamptz(3),
    actual_response text,
    feedback_at timestamptz(3),
    feedback_witness text,
    feedback_reported boolean not null default false,
    label boolean,
    key_id uuid,
    blind boolean not null default false,
    created_at timestamptz(3) not null
  );
  create index replies_acted on replies (account_id, acted_at, id) where acted_at is not null;
  create index replies_blind on replies (account_id, created_at) where blind;
  create index replies_context on replies using gin (account_id, context jsonb_path_ops);
  create index replies_key on replies (account_id, key_id) where key_id is not null;
  create index replies_labels on replies (account_id, feedback_at, id) where label is not null;
  create index replies_recent on replies (account_id, created_at, id);
  create index replies_witness on replies (account_id, feedback_witness)
    where feedback_witness not in ('login', 'recorded');
  create table reply_calibrators (
    account_id uuid primary key,
    revision bigint not null,
    fitted bigint,
    weights jsonb
  );
  create table permission_decisions (
    id uuid primary key,
    account_id uuid not null,
    agent text not null,
    tool text not null,
    action text not null,
    target text not null,
    cwd text not null,
    project text not null,
    session_id text,
    mode text not null,
    decision text not null,
    confidence float8 not null,
    allowed int not null,
    refused int not null,
    required int,
    shadow boolean not null,
    key_id uuid,
    blind boolean not null default false,
    objected_at timestamptz(3),
    created_at timestamptz(3) not null
  );
  create index permission_decisions_key on permission_decisions (account_id, key_id) where key_id is not null;
  create index permission_decisions_objected on permission_decisions (account_id, objected_at) where objected_at is not null;
  create index permission_decisions_recent on permission_decisions (account_id, created_at, id);
`;

/**
 * Tables of work. No index on `work` and no index predicate names a column that changes, except `detached_at`: so every
 * update is HOT, unless the callers have left. Rows that change all the time get room to change in place. Only the
 * primary key contains the id: if another index did, a plan made while the table held no live work might look up an id
 * by reading all of that index.
 */
const WORK = `
  create table work (
    id uuid primary key,
    kind text not null,
    party uuid not null,
    key uuid not null constraint work_key unique,
    state text not null default 'queued' constraint work_state check (state in ('queued', 'running')),
    attempt int not null,
    admission uuid not null,
    attachment uuid,
    fingerprint bytea not null,
    line uuid,
    revision bigint,
    supersedable boolean not null,
    connection_id uuid,
    worker uuid,
    waiters uuid[] not null,
    detached_at timestamptz(3),
    cancel_on_disconnect boolean not null,
    admitted_at timestamptz(3) not null,
    deadline_at timestamptz(3) not null,
    queued_at timestamptz(3) not null,
    started_at timestamptz(3),
    month text,
    plan text,
    price_microcents bigint,
    facts text not null,
    input text not null,
    progress text
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
  create index work_connection on work (connection_id) where connection_id is not null;
  create index work_line on work (line) where line is not null;
  create index work_deadline on work (kind, deadline_at);
  create index work_detached on work (detached_at) where detached_at < 'infinity';
  create index work_order on work (kind, party, queued_at);
  create table history (
    id uuid not null,
    kind text not null,
    party uuid not null,
    key uuid not null,
    fingerprint bytea not null,
    state text not null,
    code text,
    source text,
    attempt int not null,
    admission uuid not null,
    connection_id uuid,
    admitted_at timestamptz(3) not null,
    started_at timestamptz(3),
    ended_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    month text,
    plan text,
    price_microcents bigint,
    units smallint not null default 0,
    facts text not null,
    report text
  ) partition by range (ended_at);
  create index history_connection on history (connection_id, admitted_at) where connection_id is not null;
  create index history_ended on history
    using brin (ended_at) with (pages_per_range = 16, autosummarize = on);
  create index history_failed on history (kind, ended_at) where state = 'failed';
  create index history_key on history (key);
  create index history_party on history (party) where month is null;
  create table answers (
    id uuid primary key,
    answer text not null,
    key uuid,
    line uuid,
    expires_at timestamptz(3) not null
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
  create index answers_line on answers (line, id) where line is not null;
  create table drafts (
    line uuid not null,
    week date not null,
    revision bigint not null,
    text_hash bytea not null,
    updated_at timestamptz(3) not null,
    primary key (line, week)
  ) partition by range (week);
  -- Rows that change all the time, a few in each table: their statistics would be written to the WAL each minute.
  create unlogged table rounds (
    step text primary key,
    every_ms int not null,
    process uuid,
    began_at timestamptz(3),
    ended_at timestamptz(3)
  ) with (fillfactor = 20, autovacuum_analyze_threshold = 1000000000);
  create unlogged table processes (
    id uuid primary key,
    kind text not null,
    alive_until timestamptz(3) not null,
    since timestamptz(3),
    pools jsonb,
    settings jsonb
  ) with (fillfactor = 50, autovacuum_analyze_threshold = 1000000000);
  create table paused_pools (
    pool text primary key,
    paused_at timestamptz(3) not null
  );
  create table schedules (
    name text primary key,
    pattern text,
    next_tick timestamptz(3),
    last_tick timestamptz(3),
    fired_at timestamptz(3),
    step smallint not null default 0,
    position uuid,
    holder uuid,
    held_until timestamptz(3)
  );
`;

const PROVIDERS = `
  create table provider_calls (
    id uuid primary key,
    at timestamptz(3) not null,
    account_id uuid,
    app_id uuid,
    kind text not null,
    work_id uuid not null,
    attempt int not null,
    model text not null,
    input_tokens int not null,
    cached_tokens int not null,
    output_tokens int not null,
    cost_microcents bigint,
    aborted boolean not null,
    outcome text not null,
    latency_ms int not null
  );
  create index provider_calls_account_at on provider_calls (account_id, at) include (cost_microcents)
    where account_id is not null;
  create index provider_calls_app on provider_calls (app_id, at) where app_id is not null;
  create table token_usage (
    account_id uuid primary key,
    day date not null,
    tokens bigint not null
  ) with (fillfactor = 50);
  create unlogged table rate_limits (
    key varchar(255) primary key,
    points int not null default 0,
    expire bigint
  );
`;

const WEBHOOKS = `
  create table webhooks (
    id uuid primary key,
    account_id uuid constraint webhooks_account_id_foreign references accounts (id) on delete cascade,
    app_id uuid constraint webhooks_app_id_foreign references apps (id) on delete cascade,
    url text not null,
    events text[] not null,
    secret bytea not null,
    old_secret bytea,
    old_secret_until timestamptz(3),
    disabled text constraint webhooks_disabled_check check (disabled in ('paused', 'gone', 'failing')),
    failures int not null default 0,
    failing_since timestamptz(3),
    rests_until timestamptz(3),
    sender uuid,
    created_at timestamptz(3) not null,
    constraint webhooks_party_check check (num_nonnulls(account_id, app_id) = 1)
  );
  create index webhooks_account_id_index on webhooks (account_id);
  create index webhooks_app_id_index on webhooks (app_id);
  create table deliveries (
    id uuid primary key,
    webhook_id uuid not null constraint deliveries_webhook_id_foreign references webhooks (id) on delete cascade,
    event text not null,
    data jsonb not null,
    key text,
    state text not null default 'pending'
      constraint deliveries_state_check check (state in ('pending', 'delivered', 'failed')),
    attempts int not null default 0,
    reason text,
    created_at timestamptz(3) not null,
    tried_from timestamptz(3) not null,
    last_attempt_at timestamptz(3),
    next_attempt_at timestamptz(3),
    constraint deliveries_webhook_key unique (webhook_id, key)
  );
  create index deliveries_webhook on deliveries (webhook_id, id);
  create index deliveries_due on deliveries (next_attempt_at) where next_attempt_at is not null;
  create index deliveries_pending on deliveries (webhook_id, next_attempt_at) where next_attempt_at is not null;
  create index deliveries_failed on deliveries (last_attempt_at) where state = 'failed';
`;

const FUNCTIONS = `
  create table installed_functions (
    hash text primary key,
    installed_at timestamptz(3) not null default now(),
    version int[] not null,
    place text
  );
`;
