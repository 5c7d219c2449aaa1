import { Migration } from '@mikro-orm/migrations';

/** Counts of each app's calls that ended with an error, by hour and error code. */
export class Migration20261125000003 extends Migration {
  override name = 'Migration20261125000003';

  override up(): void {
    this.addSql(`
      create table refusals (
        hour timestamptz(3) not null,
        app_id uuid not null,
        code text not null,
        calls int not null,
        last_at timestamptz(3) not null,
        primary key (hour, app_id, code)
      )
    `);
  }
}
