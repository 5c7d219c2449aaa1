import { Migration } from '@mikro-orm/migrations';

/** The predictions of a batch are rows of `replies`, kept in step with their work as others are. */
export class Migration20261129000001 extends Migration {
  override name = 'Migration20261129000001';

  override up(): void {
    this.addSql(
      `create trigger batch_reply_admitted after insert on work for each row when (new.kind = 'batch_reply') execute function reply_admitted()`,
    );
    this.addSql(
      `create trigger batch_reply_ended before insert on history for each row when (new.kind = 'batch_reply') execute function reply_ended()`,
    );
  }

  override down(): void {
    this.addSql('drop trigger batch_reply_ended on history');
    this.addSql('drop trigger batch_reply_admitted on work');
  }
}
