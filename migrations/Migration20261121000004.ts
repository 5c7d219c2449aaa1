import { Migration } from '@mikro-orm/migrations';

/** Erasing an account in short steps, which another process finishes: what is being erased, and what of it is left to do. */
export class Migration20261121000004 extends Migration {
  override name = 'Migration20261121000004';

  override up(): void {
    this.addSql(`alter table "accounts" add "erasing_at" timestamptz(3) null;`);
    this.addSql(`create index "accounts_erasing" on "accounts" ("erasing_at") where erasing_at is not null;`);
    this.addSql(
      `create table "erasing_grants" ("account_id" uuid not null, "connection_id" uuid not null, "grant_revision" int not null, "ended_at" timestamptz(3) not null, primary key ("account_id", "connection_id", "grant_revision"));`,
    );
    this.addSql(
      `alter table "erasing_grants" add constraint "erasing_grants_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table "erasing_grants";`);
    this.addSql(`alter table "accounts" drop column "erasing_at";`);
  }
}
