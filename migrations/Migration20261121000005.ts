import { Migration } from '@mikro-orm/migrations';

/**
 * A session that a pooler lends has none of our settings, so the function that records brings them along: it gives up
 * the account's lock, and reads by indexes.
 */
export class Migration20261121000005 extends Migration {
  override name = 'Migration20261121000005';

  override up(): void {
    this.addSql(`alter function record_v1 set lock_timeout = '2s' set enable_seqscan = off set jit = off`);
  }

  override down(): void {
    this.addSql(`alter function record_v1 reset all`);
  }
}
