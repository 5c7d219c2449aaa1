import { Migration } from '@mikro-orm/migrations';

/** One-time links for setting a new password. */
export class Migration20261125000002 extends Migration {
  override name = 'Migration20261125000002';

  override up(): void {
    this.addSql(`
      create table password_resets (
        hash bytea primary key,
        account_id uuid not null
          constraint password_resets_account_id_foreign references accounts (id) on delete cascade,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null
      );
      create index password_resets_account_id_index on password_resets (account_id);
      create index password_resets_expires_at_index on password_resets (expires_at);
    `);
  }
}
