import { Migration } from '@mikro-orm/migrations';

/** A part is only admitted while its batch is live: the batch may end, and its account be erased, while the admission waits. */
export class Migration20261129000002 extends Migration {
  override name = 'Migration20261129000002';

  override up(): void {
    this.addSql(BATCH_IS_LIVE);
    this.addSql(
      `create trigger batch_is_live before insert on work for each row when (new.kind = 'batch_reply') execute function batch_is_live()`,
    );
  }

  override down(): void {
    this.addSql('drop trigger batch_is_live on work');
    this.addSql('drop function batch_is_live');
  }
}

/** The lock lets the batch be claimed and kept, but not end before its parts can be seen. */
const BATCH_IS_LIVE = `
create function batch_is_live() returns trigger language plpgsql as $$
begin
  perform from work w where w.id = (new.facts::json ->> 'batch')::uuid for key share;
  return case when found then new end;
end $$`;
