import { Migration } from '@mikro-orm/migrations';

/** An index that finds an account's newest episodes, for the counts of its activity. */
export class Migration20261125000006 extends Migration {
  override name = 'Migration20261125000006';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    this.addSql('drop index concurrently if exists episodes_created');
    this.addSql('create index concurrently episodes_created on episodes (account_id, created_at)');
    this.addSql('reset lock_timeout');
  }
}
