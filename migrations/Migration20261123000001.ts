import { Migration } from '@mikro-orm/migrations';

/** The installed SQL functions get a version number: `shared/db/functions.ts`. */
export class Migration20261123000001 extends Migration {
  override name = 'Migration20261123000001';

  override up(): void {
    this.addSql(`alter table installed_functions add column version int not null default 0`);
  }

  override down(): void {
    this.addSql(`alter table installed_functions drop column version`);
  }
}
