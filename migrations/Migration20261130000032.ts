import { Migration } from '@mikro-orm/migrations';

/** The snapshots of the queues from before they had pages; no release ever read them. */
export class Migration20261130000032 extends Migration {
  override name = 'Migration20261130000032';

  override up(): void {
    this.addSql('drop table queues');
  }

  override down(): void {
    this.addSql(`
      create table queues (
        kind text primary key,
        floor bigint not null,
        next_floor bigint not null,
        next_floor_at timestamptz(3) not null,
        published_at timestamptz(3),
        snapshot json
      ) with (fillfactor = 20)`);
  }
}
