import { Migration } from '@mikro-orm/migrations';

/**
 * Connections in the heart's statements, and the revision of an account's memory.
 *
 * Lock order, before the heart's own: connections by id. Admission shares them and a revoke takes them alone, so that
 * what runs when a grant ends is either seen by the revoke, or is refused.
 */
export class Migration20261121000002 extends Migration {
  override name = 'Migration20261121000002';

  override up(): void {
    this.addSql(`alter table rate_limits set unlogged`);
    this.addSql(admit);
    this.addSql(profileRevision);
  }

  override down(): void {
    this.addSql(`drop function profile_revision; drop function admit_v2`);
  }
}

/**
 * `admit_v1`, after the connections that its requests name: unknown, or another app's (`not_found`); of another user
 * (`access_denied`); not connected (`connection_revoked`).
 */
const admit = `
create function admit_v2(batch json, process uuid, timeout_ms int, window_s int, sandbox_units int, price bigint)
returns table (
  place int, outcome text, prediction_id uuid, attempt int, left_ms float8, turn float8, superseded uuid[])
language plpgsql as $$
#variable_conflict use_column
declare
  admissible json;
begin
  perform from connections c
    where c.id in (
      select i.connection_id::uuid from json_populate_recordset(null::admission_v1, batch) i
       where i.connection_id is not null)
    order by c.id for share;

  return query
  select i.place, r.refusal, i.id, 1, 0::float8, 0::float8, '{}'::uuid[]
    from json_populate_recordset(null::admission_v1, batch) i
    left join connections c on c.id = i.connection_id::uuid and c.app_id = i.app_id
   cross join lateral (
     select case
       when c.id is null then 'not_found'
       when c.user_id <> i.user_id then 'access_denied'
       when c.status <> 'connected' then 'connection_revoked'
     end as refusal) r
   where i.connection_id is not null and r.refusal is not null;

  select json_agg(e.item) into admissible
    from json_array_elements(batch) e (item)
    left join connections c
      on c.id = (e.item ->> 'connection_id')::uuid and c.app_id = (e.item ->> 'app_id')::uuid
         and c.user_id = e.item ->> 'user_id' and c.status = 'connected'
   where e.item ->> 'connection_id' is null or c.id is not null;
  if admissible is not null then
    return query select * from admit_v1(admissible, process, timeout_ms, window_s, sandbox_units, price);
  end if;
end $$`;

/** An opaque name of a state of an account's memory: another state, or another account, has another. */
const profileRevision = `
create function profile_revision(account uuid, revision bigint) returns text language sql immutable as
$$ select left(encode(sha256(convert_to(account || ':' || revision, 'UTF8')), 'hex'), 16) $$`;
