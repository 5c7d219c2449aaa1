import { Migration } from '@mikro-orm/migrations';

/** The networks from which accounts logged in. */
export class Migration20261124000002 extends Migration {
  override name = 'Migration20261124000002';

  override up(): void {
    this.addSql(`
      create table login_networks (
        account_id uuid not null,
        hash bytea not null,
        expires_at timestamptz(3) not null,
        primary key (account_id, hash),
        constraint login_networks_account_id_foreign foreign key (account_id) references accounts (id) on delete cascade
      )`);
    this.addSql(`create index login_networks_expires_at_index on login_networks (expires_at)`);
  }

  override down(): void {
    this.addSql(`drop table login_networks`);
  }
}
