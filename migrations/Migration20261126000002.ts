import { Migration } from '@mikro-orm/migrations';

/** An index that finds the facts which the announced beginning of another one ends. */
export class Migration20261126000002 extends Migration {
  override name = 'Migration20261126000002';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    this.addSql('drop index concurrently if exists facts_ending');
    this.addSql('create index concurrently facts_ending on facts (ended_by) where ended_by is not null');
    this.addSql('reset lock_timeout');
  }
}
