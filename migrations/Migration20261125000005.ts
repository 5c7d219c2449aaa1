import { Migration } from '@mikro-orm/migrations';

/** An index that finds an account's newest raw rows, for the counts of its activity. */
export class Migration20261125000005 extends Migration {
  override name = 'Migration20261125000005';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    this.addSql('drop index concurrently if exists raw_memories_created');
    this.addSql('create index concurrently raw_memories_created on raw_memories (account_id, created_at)');
    this.addSql('reset lock_timeout');
  }
}
