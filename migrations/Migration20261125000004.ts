import { Migration } from '@mikro-orm/migrations';

/** The precision that an account wants at its suggested threshold. */
export class Migration20261125000004 extends Migration {
  override name = 'Migration20261125000004';

  override up(): void {
    this.addSql('alter table accounts add column precision_target float8');
  }
}
