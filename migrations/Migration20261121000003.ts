import { Migration } from '@mikro-orm/migrations';

/**
 * Recording: a batch of one account's events and what they do to their sessions.
 *
 * Lock order: the account, then sessions by id. Batches of one account come one after the other, so that it is certain
 * which events are new, and that `arrival` grows in the order in which an account's events can be seen. Batches of
 * different accounts meet only where they both make a session of the same id.
 */
export class Migration20261121000003 extends Migration {
  override name = 'Migration20261121000003';

  override up(): void {
    this.addSql(rowType);
    this.addSql(record);
  }

  override down(): void {
    this.addSql(`drop function record_v1; drop type recording_row_v1`);
  }
}

const rowType = `
create type recording_row_v1 as (
  place bigint, id text, session_id text, type text, occurred_at timestamptz, source text, source_detail text
)`;

/**
 * Takes a batch as columns, \`bodies\` as lines. Gives how many events were stored and the places, from 0, of those that
 * were not because their session is another account's; the rest were there before. No row when the account is gone or
 * disabled.
 *
 * What is there already is looked up row by row, by scalar subqueries: a join's plan would be made for an account of
 * average size, and read all events of a large one.
 */
const record = `
create function record_v1(
  account uuid, ids text[], session_ids text[], types text[], times timestamptz[], sources text[],
  source_details text[], bodies text)
returns table (accepted int, foreign_places int[])
language plpgsql as $$
declare
  known text[];
  foreign_sessions text[];
  -- What will be stored: of each new id the first row whose session is not another account's.
  fresh recording_row_v1[];
begin
  perform from accounts a where a.id = account and a.active for no key update;
  if not found then
    return;
  end if;
  known := array(
    select b.id from unnest(ids) b (id)
     where (select true from recording_events e where e.account_id = account and e.id = b.id));

  loop
    foreign_sessions := array(
      select b.id from (select distinct unnest(session_ids)) b (id)
       where (select s.account_id <> account from recording_sessions s where s.id = b.id));
    fresh := array(
      select distinct on (b.id)
             row (b.place, b.id, b.session_id, b.type, b.occurred_at, b.source, b.source_detail)::recording_row_v1
        from unnest(ids, session_ids, types, times, sources, source_details)
             with ordinality b (id, session_id, type, occurred_at, source, source_detail, place)
       where not exists (select from unnest(known) k (id) where k.id = b.id)
         and not exists (select from unnest(foreign_sessions) f (id) where f.id = b.session_id)
       order by b.id, b.place);
    insert into recording_sessions
           (id, account_id, started_at, source, source_detail, created_at, last_arrival)
    select distinct on (f.session_id)
           f.session_id, account, f.occurred_at, f.source, f.source_detail, now(), 0
      from unnest(fresh) f
     order by f.session_id, f.place
        on conflict (id) do nothing;
    -- Somebody else may have made one of them meanwhile: then its rows are to be looked at again.
    exit when not exists (
      select from (select distinct f.session_id from unnest(fresh) f) f (id)
       where (select s.account_id from recording_sessions s where s.id = f.id) is distinct from account);
  end loop;

  foreign_places := array(
    select b.place - 1 from unnest(ids, session_ids) with ordinality b (id, session_id, place)
     where exists (select from unnest(foreign_sessions) f (id) where f.id = b.session_id)
       and not exists (select from unnest(known) k (id) where k.id = b.id)
       and not exists (select from unnest(fresh) f where f.id = b.id and f.place < b.place)
     order by b.place);

  with stored as (
    insert into recording_events (account_id, id, session_id, type, occurred_at, received_at, body)
    select account, f.id, f.session_id, f.type, f.occurred_at, now(), t.body
      from unnest(fresh) f
      join string_to_table(bodies, E'\\n') with ordinality t (body, place) on t.place = f.place
     order by f.place
    returning session_id, arrival
  ), arrivals as (
    select t.session_id, max(t.arrival) as latest from stored t group by t.session_id
  ), effects as (
    select f.session_id, max(f.occurred_at) filter (where f.type = 'session.stopped') as ended_at,
           (array_agg(f order by f.place desc) filter (where f.type = 'session.started'))[1] as start
      from unnest(fresh) f group by f.session_id
  )
  update recording_sessions s
     set last_arrival = a.latest,
         ended_at = greatest(s.ended_at, e.ended_at),
         started_at = coalesce((e.start).occurred_at, s.started_at),
         source = coalesce((e.start).source, s.source),
         source_detail = case when e.start is null then s.source_detail else (e.start).source_detail end
    from arrivals a join effects e on e.session_id = a.session_id
   where s.id = a.session_id;

  accepted := cardinality(fresh);
  return next;
end $$`;
