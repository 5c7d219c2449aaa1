import { Migration } from '@mikro-orm/migrations';

/** How often a promotion has failed about a row, and when the scheduler's try again. */
export class Migration20261129000031 extends Migration {
  override name = 'Migration20261129000031';

  override up(): void {
    for (const table of TABLES)
      this.addSql(
        `alter table "${table}" add column "failures" int not null default 0, add column "retry_at" timestamptz(3) null`,
      );
  }

  override down(): void {
    for (const table of TABLES)
      this.addSql(`alter table "${table}" drop column "failures", drop column "retry_at"`);
  }
}

const TABLES = ['raw_memories', 'episodes', 'facts'];
