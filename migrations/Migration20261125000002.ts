import { Migration } from '@mikro-orm/migrations';

/** The indexes of `facts` by which it is listed, searched and superseded. Built concurrently; safe to repeat. */
export class Migration20261125000002 extends Migration {
  override name = 'Migration20261125000002';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
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
  }
}

const INDEXES = {
  facts_account: `("account_id", "id")`,
  facts_superseded: `("superseded_by") where superseded_by is not null`,
  facts_search: `using gin ("account_id", "tags", to_tsvector('simple', search_text("text")))`,
  facts_trigrams: `using gin ("account_id", search_text("text") gin_trgm_ops)`,
};
