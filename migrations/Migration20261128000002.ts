import { Migration } from '@mikro-orm/migrations';

/** A person's own replies, which predictions learn from. Built concurrently; safe to repeat. */
export class Migration20261128000002 extends Migration {
  override name = 'Migration20261128000002';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    // What a failed attempt left, invalid.
    this.addSql('drop index concurrently if exists "raw_memories_replies"');
    this.addSql(
      `create index concurrently "raw_memories_replies" on "raw_memories" ("account_id", "occurred_at", "id") where kind = 'reply' and origin = 'human'`,
    );
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    this.addSql('drop index "raw_memories_replies"');
  }
}
