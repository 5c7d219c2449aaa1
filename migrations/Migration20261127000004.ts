import { Migration } from '@mikro-orm/migrations';

/** Recurring jobs, paused pools, the leader's rounds, and an index of what has failed, built concurrently; safe to repeat. */
export class Migration20261127000004 extends Migration {
  override name = 'Migration20261127000004';

  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    this.addSql(
      `create table if not exists "schedules" ("name" text not null, "pattern" text null, "next_tick" timestamptz(3) null, "last_tick" timestamptz(3) null, "fired_at" timestamptz(3) null, "step" smallint not null default 0, "position" uuid null, "holder" uuid null, "held_until" timestamptz(3) null, primary key ("name"));`,
    );
    this.addSql(
      `create table if not exists "paused_pools" ("pool" text not null, "paused_at" timestamptz(3) not null, primary key ("pool"));`,
    );
    this.addSql('alter table leases add column if not exists rounds jsonb');
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    // An index of a partitioned table cannot be built concurrently, but those of its partitions can.
    this.addSql(
      `create index if not exists history_failed on only history (kind, ended_at) where state = 'failed'`,
    );
    for (const partition of await this.#partitions()) {
      this.addSql(`drop index concurrently if exists "${partition}_failed_idx"`);
      this.addSql(
        `create index concurrently "${partition}_failed_idx" on "${partition}" (kind, ended_at) where state = 'failed'`,
      );
      this.addSql(`alter index history_failed attach partition "${partition}_failed_idx"`);
    }
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    this.addSql('drop index history_failed');
    this.addSql('alter table leases drop column rounds');
    this.addSql('drop table "schedules", "paused_pools"');
  }

  /** Those of the history that lack the index. */
  async #partitions(): Promise<string[]> {
    const found = await this.execute(
      `select p.inhrelid::regclass::text as name from pg_inherits p
        where p.inhparent = 'history'::regclass
          and not exists (
            select from pg_index i join pg_inherits a on a.inhrelid = i.indexrelid
              join pg_class c on c.oid = a.inhparent
             where i.indrelid = p.inhrelid and c.relname = 'history_failed')
        order by 1`,
    );
    return (found as { name: string }[]).map(({ name }) => name);
  }
}
