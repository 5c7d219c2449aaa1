import { Migration } from '@mikro-orm/migrations';

/** The search indexes that look-ups for a context go by have the account as a text too. Built concurrently; safe to repeat. */
export class Migration20261201000001 extends Migration {
  override name = 'Migration20261201000001';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.#replaceIndexes('"account_id", ("account_id"::text)');
  }

  override down(): void {
    this.#replaceIndexes('"account_id"');
  }

  #replaceIndexes(account: string): void {
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    for (const [name, table, columns] of INDEXES) {
      // What a failed attempt left, invalid.
      this.addSql(`drop index concurrently if exists "${name}_new"`);
      this.addSql(`create index concurrently "${name}_new" on "${table}" using gin (${account}, ${columns})`);
      this.addSql(`drop index concurrently if exists "${name}"`);
      this.addSql(`alter index "${name}_new" rename to "${name}"`);
    }
    this.addSql('reset lock_timeout');
  }
}

const INDEXES = [
  ['raw_memories_search', 'raw_memories', `"tags", to_tsvector('simple', search_text("content"))`],
  ['episodes_search', 'episodes', `"tags", to_tsvector('simple', search_text("title" || ' ' || "summary"))`],
  ['facts_search', 'facts', `"tags", to_tsvector('simple', search_text("text"))`],
  ['facts_trigrams', 'facts', `search_text("text") gin_trgm_ops`],
];
