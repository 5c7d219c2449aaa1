import { Migration } from '@mikro-orm/migrations';

/** The tables, columns and functions of the first edition go. */
export class Migration20261130000033 extends Migration {
  override name = 'Migration20261130000033';

  override up(): void {
    this.addSql('drop function admit_v2, admit_v1, admit_first_edition, end_v1, end_first_edition');
    this.addSql('drop type admission_v1, ending_v1');
    this.addSql('drop table prediction_texts, prediction_sessions, predictions');
    this.addSql('alter table processes drop column claimed, drop column turn');
    this.addSql('alter table usage drop column turn');
    this.addSql('alter table facts drop column episode_ids');
  }
}
