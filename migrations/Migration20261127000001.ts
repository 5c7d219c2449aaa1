import { Migration } from '@mikro-orm/migrations';

/** The ledger of calls to providers, and what the workers know about each of their models. */
export class Migration20261127000001 extends Migration {
  override name = 'Migration20261127000001';

  override up(): void {
    this.addSql(
      `create table "provider_calls" ("id" uuid not null, "at" timestamptz(3) not null, "account_id" uuid null, "app_id" uuid null, "kind" text not null, "work_id" uuid not null, "attempt" int not null, "model" text not null, "input_tokens" int not null, "output_tokens" int not null, "cost_microcents" bigint null, "aborted" boolean not null, "outcome" text not null, "latency_ms" int not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "provider_calls_account" on "provider_calls" ("account_id", "id") where account_id is not null;`,
    );
    this.addSql(
      `create index "provider_calls_app" on "provider_calls" ("app_id", "at") where app_id is not null;`,
    );
    this.addSql(
      `create table "provider_circuits" ("provider" text not null, "model" text not null, "failures" int not null default 0, "parties" text[] not null, "fault" text not null, "paused_until" timestamptz(3) null, "probe_at" timestamptz(3) null, primary key ("provider", "model"));`,
    );
  }

  override down(): void {
    this.addSql('drop table "provider_circuits"');
    this.addSql('drop table "provider_calls"');
  }
}
