import { Migration } from '@mikro-orm/migrations';

/** The order of the queue without stored priorities. */
export class Migration20261202000001 extends Migration {
  override name = 'Migration20261202000001';

  override up(): void {
    this.addSql('drop table flows, queue_snapshots');
    this.addSql('drop index work_order');
    this.addSql('alter table work drop column priority, add column queued_at timestamptz(3) not null');
    this.addSql('create index work_order on work (kind, party, queued_at)');
    this.addSql('create index work_deadline on work (kind, deadline_at, id)');
    this.addSql(`create index work_detached on work (detached_at) where detached_at < 'infinity'`);
  }
}
