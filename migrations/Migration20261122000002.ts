import { Migration } from '@mikro-orm/migrations';

/**
 * An app's usage of a month gets pages: `shared/db/sql/usage.sql`. The table has a row for each app and month, so the
 * index takes no time; until the functions are installed every row is page 0.
 */
export class Migration20261122000002 extends Migration {
  override name = 'Migration20261122000002';

  override up(): void {
    this.addSql(
      `alter table usage add column page int not null default 0, add column writes int not null default 0`,
    );
    this.addSql(`alter table usage drop constraint usage_pkey, add primary key (app_id, month, page)`);
  }

  override down(): void {
    this.addSql(`alter table usage drop constraint usage_pkey, add primary key (app_id, month)`);
    this.addSql(`alter table usage drop column page, drop column writes`);
  }
}
