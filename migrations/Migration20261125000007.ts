import { Migration } from '@mikro-orm/migrations';

/** An index that finds an account's newest facts, for the counts of its activity. */
export class Migration20261125000007 extends Migration {
  override name = 'Migration20261125000007';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    this.addSql('drop index concurrently if exists facts_created');
    this.addSql(
      'create index concurrently facts_created on facts (account_id, created_at) where revision_of is null',
    );
    this.addSql('reset lock_timeout');
  }
}
