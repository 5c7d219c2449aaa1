import { Migration } from '@mikro-orm/migrations';

/** The fact whose announced beginning ends another one. */
export class Migration20261126000001 extends Migration {
  override name = 'Migration20261126000001';

  override up(): void {
    this.addSql('alter table facts add column ended_by uuid');
  }
}
