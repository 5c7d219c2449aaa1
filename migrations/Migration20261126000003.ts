import { Migration } from '@mikro-orm/migrations';

/** A column by which a connection's answers are told apart: made for its present account, or for a former one. */
export class Migration20261126000003 extends Migration {
  override name = 'Migration20261126000003';

  override up(): void {
    this.addSql('alter table connections add column account_grant int not null default 0');
  }
}
