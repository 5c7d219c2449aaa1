import { Migration } from '@mikro-orm/migrations';

/**
 * The heart's second edition: live work apart from history, for any kind of work. The first edition's tables stay for
 * the processes that still use them, and until what they hold is 35 days old.
 *
 * No index and no predicate names a column of `work` that changes, so that every update of it is HOT.
 */
export class Migration20261122000001 extends Migration {
  override name = 'Migration20261122000001';

  override up(): void {
    this.addSql(`
      create table work (
        id uuid primary key,
        kind text not null,
        party uuid not null,
        key uuid not null constraint work_key unique,
        priority bigint not null,
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
        started_at timestamptz(3),
        month text,
        plan text,
        price_microcents bigint,
        facts text not null,
        input text not null
      ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`);
    this.addSql(`create index work_order on work (kind, party, priority)`);
    this.addSql(`create index work_line on work (line) where line is not null`);
    this.addSql(`create index work_connection on work (connection_id) where connection_id is not null`);

    this.addSql(`
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
      ) partition by range (ended_at)`);
    this.addSql(`create index history_key on history (key)`);
    this.addSql(`create index history_connection on history (connection_id) where connection_id is not null`);

    this.addSql(`
      create table answers (
        id uuid primary key,
        answer text not null,
        expires_at timestamptz(3) not null
      ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`);

    this.addSql(`
      create table drafts (
        line uuid not null,
        week date not null,
        revision bigint not null,
        text_hash bytea not null,
        updated_at timestamptz(3) not null,
        primary key (line, week)
      ) partition by range (week)`);

    this.addSql(`
      create table flows (
        kind text not null,
        party uuid not null,
        touched_at timestamptz(3) not null,
        primary key (kind, party)
      ) with (fillfactor = 50)`);
    this.addSql(`
      create table queues (
        kind text primary key,
        floor bigint not null,
        next_floor bigint not null,
        next_floor_at timestamptz(3) not null,
        published_at timestamptz(3),
        snapshot json
      ) with (fillfactor = 20)`);
    this.addSql(`
      create table leases (
        name text primary key,
        holder uuid not null,
        until timestamptz(3) not null
      ) with (fillfactor = 20)`);
    this.addSql(`
      create table installed_functions (
        hash text primary key,
        installed_at timestamptz(3) not null default now()
      )`);

    this.addSql(`alter table processes add column since timestamptz(3), add column pools jsonb`);
    // Copies under another name: processes of the first edition go on calling theirs by its identity, whose body changes.
    this.addSql(copyFunction('admit_v1', 'admit_first_edition'));
    this.addSql(copyFunction('end_v1', 'end_first_edition'));
  }

  override down(): void {
    this.addSql(`drop function admit_v1; alter function admit_first_edition rename to admit_v1`);
    this.addSql(`drop function end_v1; alter function end_first_edition rename to end_v1`);
    this.addSql(`alter table processes drop column since, drop column pools`);
    this.addSql(
      `drop table work, history, answers, drafts, flows, queues, leases, installed_functions cascade`,
    );
  }
}

function copyFunction(from: string, to: string): string {
  return `do $do$ begin
    execute regexp_replace(pg_get_functiondef('${from}'::regproc), '\\m${from}\\M', '${to}');
  end $do$`;
}
