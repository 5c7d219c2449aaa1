-- Takes the queued work that is first in the fair order, at most `_slots` pieces. `_parties` and `_rooms` say how many
-- more pieces the parties that this worker already serves may have, `_room` how many any other one.
-- The last row has no id when work was seen that this claim did not take.
--
-- It takes the head of each flow and never reads past a flood's backlog. The commit does not wait for the disk: a claim
-- that a crash of the server undoes leaves queued work, which its worker takes back (`reclaim_v1`).
create or replace function claim_v3(
  _kinds text[], _worker uuid, _slots int, _parties uuid[], _rooms int[], _room int, _abandon_after_ms int)
returns table (
  id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text, left_ms float8)
language plpgsql
set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  floor bigint := coalesce((select min(q.floor) from queues q where q.kind = any (_kinds)), 0);
  seen int;
  taken int;
  candidates uuid[];
begin
  perform set_config('synchronous_commit', 'off', true);
  select count(*), array_agg(c.id order by c.priority, c.id) filter (where c.nth <= c.room)
    into seen, candidates
    from (
      select head.id, head.priority, head.nth, coalesce(r.room, _room) as room
        from flows f
        left join unnest(_parties, _rooms) as r (party, room) on r.party = f.party
       cross join lateral (
         select h.id, h.priority, row_number() over (order by h.priority, h.id) as nth
           from (
             select w.id, w.priority from work w
              where w.kind = f.kind and w.party = f.party and w.priority >= floor
                and w.state = 'queued' and w.deadline_at > now()
                and (w.detached_at is null or w.detached_at > now() - make_interval(secs => _abandon_after_ms / 1000.0))
              order by w.priority
              limit least(2 * _slots, coalesce(r.room, _room)) + 1) h) head
       where f.kind = any (_kinds)) c;
  if seen = 0 then
    return;
  end if;

  return query
  with free as (
    select w.id from work w
     where w.id = any (candidates[1 : 2 * _slots]) and w.state = 'queued'
     order by w.priority, w.id limit _slots for update skip locked
  ), claimed as (
    update work w set state = 'running', worker = _worker, started_at = clock_timestamp()
      from free where w.id = any (candidates[1 : 2 * _slots]) and w.id = free.id
    returning w.*
  )
  select c.id, c.kind, c.party, c.month, c.attempt, c.connection_id, c.input, c.facts,
         (extract(epoch from c.deadline_at - clock_timestamp()) * 1000)::float8
    from claimed c;
  get diagnostics taken = row_count;
  if taken < seen then
    return query select null::uuid, null, null::uuid, null, null::int, null::uuid, null, null, null::float8;
  end if;
end $$;
