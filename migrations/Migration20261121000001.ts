import { Migration } from '@mikro-orm/migrations';

export class Migration20261121000001 extends Migration {
  override name = 'Migration20261121000001';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "accounts" ("id" uuid not null, "email" text not null, "email_key" text not null, "name" text not null default '', "password_hash" text not null, "active" boolean not null default true, "memory_revision" bigint not null default '0', "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "accounts" add constraint "accounts_email_key_unique" unique ("email_key");`);

    this.addSql(
      `create table "connections" ("id" uuid not null, "app_id" uuid not null, "user_id" text not null, "account_id" uuid null, "status" text not null, "grant_revision" int not null, "created_at" timestamptz(3) not null, "granted_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "connections_account_id_index" on "connections" ("account_id");`);
    this.addSql(
      `alter table "connections" add constraint "connections_app_user" unique ("app_id", "user_id");`,
    );

    this.addSql(
      `create table "connection_attempts" ("id" uuid not null, "app_id" uuid not null, "user_id" text not null, "redirect_uri" text not null, "state" text not null, "code_challenge" varchar(43) not null, "status" text not null default 'pending', "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "account_id" uuid null, "code_hash" bytea null, "code_expires_at" timestamptz(3) null, "mismatches" smallint not null default 0, "connection_id" uuid null, "grant_revision" int null, "answer" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "connection_attempts_account_id_index" on "connection_attempts" ("account_id");`,
    );
    this.addSql(`create index "connection_attempts_expires" on "connection_attempts" ("expires_at");`);

    this.addSql(
      `create table "facts" ("id" uuid not null, "account_id" uuid not null, "text" text not null, "kind" text null, "tags" text[] not null, "confidence" double precision not null default 1, "episode_ids" uuid[] not null, "valid_from" timestamptz(3) null, "valid_to" timestamptz(3) null, "superseded_by" uuid null, "pinned" boolean not null default false, "model" text null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "facts_current" on "facts" ("account_id", "id") where superseded_by is null;`);

    this.addSql(
      `create table "invites" ("id" uuid not null, "hash" bytea not null, "created_at" timestamptz(3) not null, "used_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "invites" add constraint "invites_hash_unique" unique ("hash");`);

    this.addSql(
      `create table "prediction_events" ("app_id" uuid not null, "event_id" varchar(80) not null, "prediction_id" uuid not null, "request_id" varchar(80) not null, "user_id" text not null, "kind" text not null, "recorded_at" timestamptz(3) not null, primary key ("app_id", "event_id"));`,
    );
    this.addSql(`create index "prediction_events_recorded" on "prediction_events" ("recorded_at");`);

    this.addSql(
      `create table "profiles" ("account_id" uuid not null, "data" jsonb not null, "summary" text not null default '', "revision" bigint not null default '1', "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("account_id"));`,
    );

    this.addSql(
      `create table "rate_limits" ("key" varchar(255) not null, "points" int not null default 0, "expire" bigint null, primary key ("key"));`,
    );

    this.addSql(
      `create table "recording_events" ("account_id" uuid not null, "id" text not null, "arrival" bigserial not null, "session_id" text not null, "type" text not null, "occurred_at" timestamptz(3) not null, "received_at" timestamptz(3) not null, "body" text not null, primary key ("account_id", "id"));`,
    );
    this.addSql(`create index "recording_events_arrival" on "recording_events" ("session_id", "arrival");`);
    this.addSql(
      `create index "recording_events_session" on "recording_events" ("session_id", "occurred_at", "arrival");`,
    );

    this.addSql(
      `create table "recording_sessions" ("id" text not null, "account_id" uuid not null, "started_at" timestamptz(3) not null, "source" text not null, "source_detail" text null, "ended_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "last_arrival" bigint not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "recording_sessions_recent" on "recording_sessions" ("account_id", "last_arrival");`,
    );

    this.addSql(
      `create table "refresh_tokens" ("hash" bytea not null, "account_id" uuid not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`create index "refresh_tokens_account_id_index" on "refresh_tokens" ("account_id");`);
    this.addSql(`create index "refresh_tokens_expires_at_index" on "refresh_tokens" ("expires_at");`);

    this.addSql(
      `create table "service_keys" ("id" uuid not null, "account_id" uuid not null, "hash" bytea not null, "prefix" text not null, "label" text not null, "created_at" timestamptz(3) not null, "last_used_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "service_keys_account_id_index" on "service_keys" ("account_id");`);
    this.addSql(`alter table "service_keys" add constraint "service_keys_hash_unique" unique ("hash");`);

    this.addSql(
      `create table "waitlist" ("email_key" text not null, "email" text not null, "created_at" timestamptz(3) not null, primary key ("email_key"));`,
    );

    this.addSql(
      `create table "web_sessions" ("hash" bytea not null, "account_id" uuid not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`create index "web_sessions_account_id_index" on "web_sessions" ("account_id");`);
    this.addSql(`create index "web_sessions_expires_at_index" on "web_sessions" ("expires_at");`);

    this.addSql(
      `create index "predictions_connected" on "predictions" ("connection_id") where connection_id is not null;`,
    );

    this.addSql(
      `alter table "connections" add constraint "connections_app_id_foreign" foreign key ("app_id") references "apps" ("id");`,
    );
    this.addSql(
      `alter table "connections" add constraint "connections_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete set null;`,
    );
    this.addSql(
      `alter table "connections" add constraint "connections_status_check" check ("status" in ('connected', 'revoked'));`,
    );

    this.addSql(
      `alter table "connection_attempts" add constraint "connection_attempts_app_id_foreign" foreign key ("app_id") references "apps" ("id");`,
    );
    this.addSql(
      `alter table "connection_attempts" add constraint "connection_attempts_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "connection_attempts" add constraint "connection_attempts_connection_id_foreign" foreign key ("connection_id") references "connections" ("id") on delete set null;`,
    );
    this.addSql(
      `alter table "connection_attempts" add constraint "connection_attempts_status_check" check ("status" in ('pending', 'approved', 'denied', 'exchanged', 'burned'));`,
    );

    this.addSql(
      `alter table "facts" add constraint "facts_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "prediction_events" add constraint "prediction_events_kind_check" check ("kind" in ('presented', 'accepted', 'edited', 'dismissed', 'submitted'));`,
    );

    this.addSql(
      `alter table "profiles" add constraint "profiles_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "refresh_tokens" add constraint "refresh_tokens_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "service_keys" add constraint "service_keys_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "web_sessions" add constraint "web_sessions_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "connections" drop constraint "connections_account_id_foreign";`);
    this.addSql(
      `alter table "connection_attempts" drop constraint "connection_attempts_account_id_foreign";`,
    );
    this.addSql(`alter table "facts" drop constraint "facts_account_id_foreign";`);
    this.addSql(`alter table "profiles" drop constraint "profiles_account_id_foreign";`);
    this.addSql(`alter table "refresh_tokens" drop constraint "refresh_tokens_account_id_foreign";`);
    this.addSql(`alter table "service_keys" drop constraint "service_keys_account_id_foreign";`);
    this.addSql(`alter table "web_sessions" drop constraint "web_sessions_account_id_foreign";`);
    this.addSql(
      `alter table "connection_attempts" drop constraint "connection_attempts_connection_id_foreign";`,
    );

    this.addSql(`drop table if exists "accounts" cascade;`);
    this.addSql(`drop table if exists "connections" cascade;`);
    this.addSql(`drop table if exists "connection_attempts" cascade;`);
    this.addSql(`drop table if exists "facts" cascade;`);
    this.addSql(`drop table if exists "invites" cascade;`);
    this.addSql(`drop table if exists "prediction_events" cascade;`);
    this.addSql(`drop table if exists "profiles" cascade;`);
    this.addSql(`drop table if exists "rate_limits" cascade;`);
    this.addSql(`drop table if exists "recording_events" cascade;`);
    this.addSql(`drop table if exists "recording_sessions" cascade;`);
    this.addSql(`drop table if exists "refresh_tokens" cascade;`);
    this.addSql(`drop table if exists "service_keys" cascade;`);
    this.addSql(`drop table if exists "waitlist" cascade;`);
    this.addSql(`drop table if exists "web_sessions" cascade;`);

    this.addSql(`drop index "predictions_connected";`);
  }
}
