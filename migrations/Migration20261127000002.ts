import { Migration } from '@mikro-orm/migrations';

const INDEXES = {
  raw_memories_unpromoted: '"raw_memories" ("account_id", "occurred_at", "id") where promoted_at is null',
  episodes_unpromoted: '"episodes" ("account_id", "ended_at", "id") where promoted_at is null',
  episodes_stale: '"episodes" ("account_id", "ended_at") where stale_at is not null',
};

/** What promotion has to look at, however much it has looked at before. Built concurrently; safe to repeat. */
export class Migration20261127000002 extends Migration {
  override name = 'Migration20261127000002';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    for (const [name, columns] of Object.entries(INDEXES)) {
      // What a failed attempt left, invalid.
      this.addSql(`drop index concurrently if exists "${name}"`);
      this.addSql(`create index concurrently "${name}" on ${columns}`);
    }
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    for (const name of Object.keys(INDEXES)) this.addSql(`drop index "${name}"`);
  }
}
