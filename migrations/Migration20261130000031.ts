import { Migration } from '@mikro-orm/migrations';

/** The snapshots of the queues, a row for each page; begins with what `queues` has. */
export class Migration20261130000031 extends Migration {
  override name = 'Migration20261130000031';

  override up(): void {
    this.addSql(`
      create table queue_snapshots (
        kind text not null,
        page bigint not null,
        floor bigint not null,
        next_floor bigint not null,
        next_floor_at timestamptz(3) not null,
        published_at timestamptz(3),
        snapshot json,
        primary key (kind, page)
      )`);
    this.addSql(`
      insert into queue_snapshots (kind, page, floor, next_floor, next_floor_at, published_at, snapshot)
      select kind, 1, floor, next_floor, next_floor_at, published_at, snapshot from queues`);
  }

  override down(): void {
    this.addSql('drop table queue_snapshots');
  }
}
