import { Migration } from '@mikro-orm/migrations';

/**
 * What each account uses of its quotas, and the indexes under which attempts of an app and events of a prediction are
 * counted. Accounts that have recorded something are counted one by one, each in a transaction of its own, while they
 * record: `lock_account_usage_v1` adds what comes after. Not in one transaction, and safe to repeat.
 */
export class Migration20261124000003 extends Migration {
  override name = 'Migration20261124000003';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create table if not exists "account_usage" ("account_id" uuid not null, "sessions" bigint not null default '0', "events" bigint not null default '0', "bytes" bigint not null default '0', "reached" bigint not null default '0', primary key ("account_id"), constraint "account_usage_account_id_foreign" foreign key ("account_id") references "accounts" ("id") on update cascade on delete cascade) with (fillfactor = 50);`,
    );
    this.addSql(countRecorded);
    this.addSql('set lock_timeout = 0');
    this.addSql('drop index concurrently if exists connection_attempts_pending');
    this.addSql(
      `create index concurrently "connection_attempts_pending" on "connection_attempts" ("app_id", "expires_at") where status = 'pending'`,
    );
    this.addSql('drop index concurrently if exists prediction_events_prediction');
    this.addSql(
      'create index concurrently "prediction_events_prediction" on "prediction_events" ("prediction_id")',
    );
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    this.addSql('drop index connection_attempts_pending, prediction_events_prediction');
    this.addSql('drop table account_usage cascade');
  }
}

/** An account's batches are stored one after the other, so nothing arrives later before the latest that can be seen. */
const countRecorded = `
do $do$
declare
  one uuid;
begin
  for one in
    select a.id from accounts a
     where a.erasing_at is null and exists (select from recording_sessions s where s.account_id = a.id)
       and not exists (select from account_usage u where u.account_id = a.id)
     order by a.id
  loop
    -- So that it is not deleted meanwhile.
    perform from accounts a where a.id = one and a.erasing_at is null for key share;
    if found then
      insert into account_usage (account_id, sessions, events, bytes, reached)
      select one, count(*), sum(n.events), sum(n.bytes), max(n.reached)
        from (select count(*) as events, sum(octet_length(e.body)) as bytes, max(e.arrival) as reached
                from recording_events e where e.account_id = one group by e.session_id) n;
    end if;
    commit;
  end loop;
end $do$`;
