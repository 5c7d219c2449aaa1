import { Migration } from '@mikro-orm/migrations';

export class Migration20261120000001 extends Migration {
  override name = 'Migration20261120000001';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "apps" ("id" uuid not null, "name" text not null, "plan" text not null, "cap_cents" bigint null, "active" boolean not null default true, "redirect_uris" text[] not null, "min_confidence" double precision not null default 0.3, "supersede" boolean not null default true, "on_disconnect" text not null default 'continue', "disabled" text[] not null, "fingerprint_key" bytea not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "apps" add constraint "apps_cap_cents_check" check (cap_cents >= 0);`);
    this.addSql(`alter table "apps" add constraint "apps_plan_check" check ("plan" in ('sandbox', 'paid'));`);
    this.addSql(
      `alter table "apps" add constraint "apps_on_disconnect_check" check ("on_disconnect" in ('continue', 'cancel'));`,
    );

    this.addSql(
      `create table "app_keys" ("id" uuid not null, "app_id" uuid not null, "hash" bytea not null, "prefix" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "app_keys" add constraint "app_keys_hash_unique" unique ("hash");`);

    this.addSql(
      `create table "predictions" ("id" uuid not null, "app_id" uuid not null, "request_id" varchar(80) not null, "user_id" text not null, "session_id" varchar(80) not null, "mode" text not null, "connection_id" varchar(80) null, "fingerprint" bytea not null, "draft_revision" bigint not null, "context_revision" text not null, "profile_revision" text not null default 'none', "grant_revision" int not null default 0, "state" text not null, "code" text null, "error_source" text null, "attempt" int not null default 1, "worker" uuid null, "waiters" uuid[] not null, "detached_at" timestamptz(3) null, "cancel_on_disconnect" boolean not null default false, "turn" bigint not null default '0', "admitted_at" timestamptz(3) not null, "deadline_at" timestamptz(3) not null, "requeue_at" timestamptz(3) not null, "started_at" timestamptz(3) null, "ended_at" timestamptz(3) null, "expires_at" timestamptz(3) null, "erased" boolean not null default false, "month" varchar(7) not null, "plan" text not null, "price_microcents" bigint not null, "units" smallint not null default 0, "context_truncated" boolean not null default false, "provider_ms" int null, primary key ("id"));`,
    );
    this.addSql(
      `create index "predictions_live_session" on "predictions" ("app_id", "user_id", "session_id") where state in ('queued', 'running');`,
    );
    this.addSql(
      `create index "predictions_live" on "predictions" ("deadline_at") where state in ('queued', 'running');`,
    );
    this.addSql(
      `create index "predictions_unerased" on "predictions" ("expires_at") where expires_at is not null and not erased;`,
    );
    this.addSql(
      `alter table "predictions" add constraint "predictions_request" unique ("app_id", "request_id");`,
    );
    this.addSql(
      `alter table "predictions" add constraint "predictions_mode_check" check ("mode" in ('complete_draft', 'next_prompt'));`,
    );
    this.addSql(
      `alter table "predictions" add constraint "predictions_state_check" check ("state" in ('queued', 'running', 'suggested', 'abstained', 'cancelled', 'failed'));`,
    );

    this.addSql(
      `create table "prediction_sessions" ("app_id" uuid not null, "user_id" text not null, "session_id" varchar(80) not null, "revision" bigint not null, "text_hash" bytea not null, "updated_at" timestamptz(3) not null, primary key ("app_id", "user_id", "session_id"));`,
    );
    this.addSql(`create index "prediction_sessions_updated" on "prediction_sessions" ("updated_at");`);

    this.addSql(
      `create table "prediction_texts" ("prediction_id" uuid not null, "request" text not null, "answer" text null, primary key ("prediction_id"));`,
    );

    this.addSql(
      `create table "processes" ("id" uuid not null, "kind" text not null, "alive_until" timestamptz(3) not null, "claimed" bigint not null default '0', "turn" bigint not null default '0', primary key ("id"));`,
    );

    this.addSql(
      `create table "usage" ("app_id" uuid not null, "month" varchar(7) not null, "reserved" int not null default 0, "settled" int not null default 0, "paid_reserved" int not null default 0, "paid_settled" int not null default 0, "paid_reserved_microcents" bigint not null default '0', "paid_settled_microcents" bigint not null default '0', "turn" bigint not null default '0', primary key ("app_id", "month"));`,
    );
    this.addSql(
      `alter table "usage" add constraint "usage_reserved_check" check (reserved >= 0 and paid_reserved >= 0 and paid_reserved_microcents >= 0);`,
    );

    this.addSql(
      `alter table "app_keys" add constraint "app_keys_app_id_foreign" foreign key ("app_id") references "apps" ("id");`,
    );
  }
}
