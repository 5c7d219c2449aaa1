import { Migration } from '@mikro-orm/migrations';

/**
 * What a fact settles of a person (`slot`), and the indexes by which promotion finds the facts of a slot and those whose
 * text was erased. Not in one transaction, because the indexes are built concurrently; safe to repeat.
 */
export class Migration20261127000003 extends Migration {
  override name = 'Migration20261127000003';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`alter table "facts" add column if not exists "slot" text null`);
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    for (const [name, definition] of Object.entries(INDEXES)) {
      // What a failed attempt left, invalid.
      this.addSql(`drop index concurrently if exists "${name}"`);
      this.addSql(`create index concurrently "${name}" on "facts" ${definition}`);
    }
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    for (const name of Object.keys(INDEXES)) this.addSql(`drop index "${name}"`);
    this.addSql(`alter table "facts" drop column "slot"`);
  }
}

const INDEXES = {
  facts_slot: `("account_id", "slot") where slot is not null`,
  facts_stale: `("account_id", "id") where stale_at is not null`,
};
