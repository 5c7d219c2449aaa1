import { Migration } from '@mikro-orm/migrations';

/**
 * The settings that a process states with its heartbeat, and an index by which the operators' board reads a few minutes
 * of the history. Existing partitions never get the index: building it there would hold up their writers.
 */
export class Migration20261125000001 extends Migration {
  override name = 'Migration20261125000001';

  override up(): void {
    this.addSql('alter table processes add column settings jsonb');
    this.addSql(
      'create index history_ended on only history using brin (ended_at) with (pages_per_range = 16, autosummarize = on)',
    );
  }
}
