do $$ begin
  create type recording_row_v1 as (
    place bigint, id text, session_id text, type text, occurred_at timestamptz, source text, source_detail text,
    project text);
exception when duplicate_object then
  null;
end $$;

-- Stores a batch of an account's events, and updates their sessions. Takes the batch as columns: `_bodies` has a line
-- for each event, `_sizes` the bytes of each line. Returns the number of events stored, and the places (from 0) of
-- those refused because their session is another account's; the rest repeat an id that is stored, was deleted, or is
-- earlier in the batch. An event that was only reported (`_reported`) gives way to one of the same id whose witness
-- vouches for it: the event is replaced, and its raw row is made anew. If the new events do not fit into the quotas, it
-- stores nothing and says in `excess` why. Returns no row when the account is gone or disabled.
--
-- Lock order: the account, its usage, then sessions by id. Batches of one account run one after the other. Otherwise it
-- would be uncertain which events are new, and `arrival` would not grow in the order in which an account's events
-- become visible. Batches of different accounts conflict only if both create a session with the same id.
--
-- Existing rows are looked up one by one, by scalar subqueries: a join would be planned for an account of average size,
-- and read all events of a large one.
create or replace function record_v1(
  _account uuid, _ids text[], _session_ids text[], _types text[], _times timestamptz[], _sources text[],
  _source_details text[], _projects text[], _bodies text, _sizes int[], _quotas json, _witness text,
  _reported boolean)
returns table (accepted int, foreign_places int[], excess json)
language plpgsql set lock_timeout = '2s' set enable_seqscan = off set jit = off as $$
declare
  used account_usage%rowtype;
  -- For each row: true if its event is stored, false if that one gives way, null if there is none.
  stored_before boolean[];
  known text[];
  foreign_sessions text[];
  -- Rows to store: for each new id, the first row whose session is not another account's.
  fresh recording_row_v1[];
  -- Ids of stored events that give way.
  reports text[];
  fresh_sessions text[];
  new_sessions bigint;
  new_bytes bigint;
begin
  perform from accounts a where a.id = _account and a.active for no key update;
  if not found then
    return;
  end if;
  used := lock_account_usage_v1(_account);
  stored_before := array(
    select (select _reported or not e.reported from recording_events e where e.account_id = _account and e.id = b.id)
      from unnest(_ids) with ordinality b (id, place) order by b.place);
  known := array(select b.id from unnest(_ids, stored_before) b (id, stays) where b.stays);
  -- An event that was deleted with its raw row stays deleted when it is posted again.
  if exists (select from memory_tombstones t where t.account_id = _account) then
    known := known || array(
      select b.id from unnest(_ids) b (id)
       where (select true from memory_tombstones t
               where t.account_id = _account and t.event_hash = event_hash(_account, b.id)));
  end if;

  foreign_sessions := array(
    select b.id from (select distinct unnest(_session_ids)) b (id)
     where (select s.account_id <> _account from recording_sessions s where s.id = b.id));
  fresh := array(
    select distinct on (b.id)
           row (b.place, b.id, b.session_id, b.type, b.occurred_at, b.source, b.source_detail, b.project
           )::recording_row_v1
      from unnest(_ids, _session_ids, _types, _times, _sources, _source_details, _projects)
           with ordinality b (id, session_id, type, occurred_at, source, source_detail, project, place)
     where not exists (select from unnest(known) k (id) where k.id = b.id)
       and not exists (select from unnest(foreign_sessions) f (id) where f.id = b.session_id)
     order by b.id, b.place);

  select array_agg(distinct f.session_id), coalesce(sum(_sizes[f.place]), 0) into fresh_sessions, new_bytes
    from unnest(fresh) f;
  select count(*) into new_sessions from unnest(fresh_sessions) f (id)
   where (select true from recording_sessions s where s.id = f.id) is null;
  excess := excess_v1(used, json_build_object(
    'sessions', new_sessions, 'events', cardinality(fresh), 'bytes', new_bytes), _quotas);
  if excess is not null then
    return next;
    return;
  end if;

  insert into recording_sessions (id, account_id, started_at, source, source_detail, project, created_at,
                                  last_arrival)
  select distinct on (f.session_id)
         f.session_id, _account, f.occurred_at, f.source, f.source_detail, f.project, now(), 0
    from unnest(fresh) f
   order by f.session_id, f.place
      on conflict (id) do nothing;
  -- Another account may just have created one of these sessions: the caller then repeats the statement.
  if exists (
    select from unnest(fresh_sessions) f (id)
     where (select s.account_id from recording_sessions s where s.id = f.id) is distinct from _account)
  then
    raise serialization_failure using message = 'a session is another account''s by now';
  end if;

  reports := array(select f.id from unnest(fresh) f where not stored_before[f.place]);
  if cardinality(reports) > 0 then
    with replaced as (
      delete from recording_events e where e.account_id = _account and e.id = any (reports)
      returning octet_length(e.body) as bytes
    ) select used.events - count(*), used.bytes - sum(r.bytes) into used.events, used.bytes from replaced r;
    with remade as (
      delete from raw_memories r where r.account_id = _account and r.event_id = any (reports) returning r.id
    ) delete from memory_links l where l.account_id = _account and l.to_id in (select r.id from remade r);
    update accounts a set memory_revision = a.memory_revision + 1 where a.id = _account;
  end if;

  foreign_places := array(
    select b.place - 1 from unnest(_ids, _session_ids) with ordinality b (id, session_id, place)
     where exists (select from unnest(foreign_sessions) f (id) where f.id = b.session_id)
       and not exists (select from unnest(known) k (id) where k.id = b.id)
       and not exists (select from unnest(fresh) f where f.id = b.id and f.place < b.place)
     order by b.place);

  with stored as (
    insert into recording_events (
      account_id, id, session_id, type, occurred_at, received_at, body, witness, reported)
    select _account, f.id, f.session_id, f.type, f.occurred_at, now(), t.body, _witness, _reported
      from unnest(fresh) f
      join string_to_table(_bodies, E'\n') with ordinality t (body, place) on t.place = f.place
     order by f.place
    returning session_id, arrival
  ), arrivals as (
    select t.session_id, max(t.arrival) as latest from stored t group by t.session_id
  ), effects as (
    select f.session_id, max(f.occurred_at) filter (where f.type = 'session.stopped') as ended_at,
           (array_agg(f order by f.place desc) filter (where f.type = 'session.started'))[1] as start
      from unnest(fresh) f group by f.session_id
  ), counted as (
    update account_usage u
       set sessions = used.sessions + new_sessions, events = used.events + cardinality(fresh),
           bytes = used.bytes + new_bytes
     where u.account_id = _account and cardinality(fresh) > 0
  )
  update recording_sessions s
     set last_arrival = a.latest,
         ended_at = greatest(s.ended_at, e.ended_at),
         started_at = coalesce((e.start).occurred_at, s.started_at),
         source = coalesce((e.start).source, s.source),
         source_detail = case when e.start is null then s.source_detail else (e.start).source_detail end,
         project = case when e.start is null then s.project else (e.start).project end
    from arrivals a join effects e on e.session_id = a.session_id
   where s.id = a.session_id;

  accepted := cardinality(fresh);
  return next;
end $$;
