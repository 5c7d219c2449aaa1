import { Migration } from '@mikro-orm/migrations';

/** Access tokens of a generation of log-ins that has ended are refused. */
export class Migration20261201000011 extends Migration {
  override name = 'Migration20261201000011';

  override up(): void {
    this.addSql(`alter table "accounts" add "login_generation" int not null default 0;`);
  }

  override down(): void {
    this.addSql(`alter table "accounts" drop column "login_generation";`);
  }
}
