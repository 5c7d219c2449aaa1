import { Migration } from '@mikro-orm/migrations';

/** Indexes by which the context of memory finds pinned facts, and counts what it leaves out. Built concurrently; safe to repeat. */
export class Migration20261127000009 extends Migration {
  override name = 'Migration20261127000009';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    for (const [name, definition] of Object.entries(INDEXES)) {
      // What a failed attempt left, invalid.
      this.addSql(`drop index concurrently if exists "${name}"`);
      this.addSql(`create index concurrently "${name}" on ${definition}`);
    }
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    for (const name of Object.keys(INDEXES)) this.addSql(`drop index "${name}"`);
  }
}

const INDEXES = {
  facts_pinned: `"facts" ("account_id", "id") where pinned and superseded_by is null`,
  facts_replaced: `"facts" ("account_id") where superseded_by is not null and revision_of is null`,
  facts_ended: `"facts" ("account_id", "valid_to") where valid_to is not null and superseded_by is null`,
  facts_begun: `"facts" ("account_id", "valid_from") where valid_from is not null and superseded_by is null`,
  raw_memories_predicted: `"raw_memories" ("account_id", "occurred_at") where origin in ('accepted_prediction', 'edited_prediction')`,
};
