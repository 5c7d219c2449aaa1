import { Migration } from '@mikro-orm/migrations';

/**
 * The sessions that have something new for memory, and an account's jobs in the history, which its erasure deletes.
 * Built concurrently; safe to repeat.
 */
export class Migration20261126000002 extends Migration {
  override name = 'Migration20261126000002';

  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    // It waits for older transactions, and blocks nobody.
    this.addSql('set lock_timeout = 0');
    // What a failed attempt left, invalid.
    this.addSql('drop index concurrently if exists "recording_sessions_unsynced"');
    this.addSql(
      'create index concurrently "recording_sessions_unsynced" on "recording_sessions" ("account_id", "last_arrival") where last_arrival > synced_arrival',
    );
    // An index of a partitioned table cannot be built concurrently, but those of its partitions can.
    this.addSql(`create index if not exists history_party on only history (party) where month is null`);
    for (const partition of await this.#partitions()) {
      this.addSql(`drop index concurrently if exists "${partition}_party_idx"`);
      this.addSql(
        `create index concurrently "${partition}_party_idx" on "${partition}" (party) where month is null`,
      );
      this.addSql(`alter index history_party attach partition "${partition}_party_idx"`);
    }
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    this.addSql('drop index "recording_sessions_unsynced", history_party');
  }

  /** Those of the history that lack the index. */
  async #partitions(): Promise<string[]> {
    const found = await this.execute(
      `select p.inhrelid::regclass::text as name from pg_inherits p
        where p.inhparent = 'history'::regclass
          and not exists (
            select from pg_index i join pg_inherits a on a.inhrelid = i.indexrelid
              join pg_class c on c.oid = a.inhparent
             where i.indrelid = p.inhrelid and c.relname = 'history_party')
        order by 1`,
    );
    return (found as { name: string }[]).map(({ name }) => name);
  }
}
