import { Migration } from '@mikro-orm/migrations';

/** What long work has done so far, and how far each session has been synced into memory. */
export class Migration20261126000001 extends Migration {
  override name = 'Migration20261126000001';

  override up(): void {
    this.addSql('alter table work add column progress text');
    this.addSql(`alter table "recording_sessions" add "synced_arrival" bigint not null default '0';`);
  }

  override down(): void {
    this.addSql('alter table "recording_sessions" drop column "synced_arrival";');
    this.addSql('alter table work drop column progress');
  }
}
