import { Migration } from '@mikro-orm/migrations';

/** A column by which events of suggestions are told apart from those of predictions that suggested nothing. */
export class Migration20261127000001 extends Migration {
  override name = 'Migration20261127000001';

  override up(): void {
    this.addSql('alter table prediction_events add column suggested boolean');
  }
}
