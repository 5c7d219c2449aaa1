import { Migration } from '@mikro-orm/migrations';

/** Raw rows that a promotion has failed about. Built concurrently; safe to repeat. */
export class Migration20261129000032 extends Migration {
  override name = 'Migration20261129000032';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    // What a failed attempt left, invalid.
    this.addSql('drop index concurrently if exists "raw_memories_failed"');
    this.addSql(
      `create index concurrently "raw_memories_failed" on "raw_memories" ("account_id", "occurred_at", "id") where failures > 0`,
    );
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    this.addSql('drop index "raw_memories_failed"');
  }
}
