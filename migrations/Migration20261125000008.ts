import { Migration } from '@mikro-orm/migrations';

/**
 * An index that finds an account's newest model calls, for the counts of its activity. It replaces
 * `provider_calls_account`.
 */
export class Migration20261125000008 extends Migration {
  override name = 'Migration20261125000008';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    this.addSql('drop index concurrently if exists provider_calls_account_at');
    this.addSql(
      'create index concurrently provider_calls_account_at on provider_calls (account_id, at) include (cost_microcents) where account_id is not null',
    );
    this.addSql('drop index concurrently if exists provider_calls_account');
    this.addSql('reset lock_timeout');
  }
}
