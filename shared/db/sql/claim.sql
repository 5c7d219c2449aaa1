-- Claims the queued work that is first in the fair order, at most `_slots` pieces: all slots that are free. `_parties`
-- and `_rooms` say how many more pieces each party that this worker already serves may have, `_room` how many any other
-- party. While several parties wait, it takes half of the slots, so that what each party then holds counts for the next
-- claim: two that flood together would else fill all of them at once. A party has at most one piece running of each
-- kind in `_one_at_a_time`: its next one is not claimed before.
-- When it saw work that it did not claim, the last row has no id; its `attempt` is how much of that the next claim may
-- take with the same rooms.
--
-- It reads the head of each flow and never a flood's whole backlog. A claim ends with the piece that reaches 256 KiB of
-- requests, because a worker that parses many large ones serves nobody else meanwhile. The commit does not wait for the
-- disk: when a crash of the server undoes a claim, the work is queued again, and its worker takes it back
-- (`reclaim_v1`).
create or replace function claim_v5(
  _kinds text[], _one_at_a_time text[], _worker uuid, _slots int, _parties uuid[], _rooms int[], _room int,
  _abandon_after_ms int)
returns table (
  id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text,
  queued_ms float8, left_ms float8)
language plpgsql
as $$
#variable_conflict use_column
declare
  floor bigint := queue_floor_v2(_kinds);
  seen int;
  heads int;
  most int;
  taken int;
  candidates uuid[];
  ignored text;
begin
  -- As an expression: `perform` would make it a query.
  ignored := set_config('synchronous_commit', 'off', true);
  select count(*), count(*) filter (where c.nth = 1 and c.room > 0),
         array_agg(c.id order by c.priority, c.id) filter (where c.nth <= c.room)
    into seen, heads, candidates
    from (
      select head.id, head.priority, head.nth, f.room
        from (
          select g.kind, g.party,
                 case when g.kind <> all (_one_at_a_time) then coalesce(r.room, _room)
                   else least(coalesce(r.room, _room), (not exists (
                     select from work w
                      where w.kind = g.kind and w.party = g.party and w.priority >= floor
                        and w.state = 'running'))::int)
                 end as room
            from flows g
            left join unnest(_parties, _rooms) as r (party, room) on r.party = g.party
           where g.kind = any (_kinds)) f
       cross join lateral (
         select h.id, h.priority, row_number() over (order by h.priority, h.id) as nth
           from (
             select w.id, w.priority from work w
              where w.kind = f.kind and w.party = f.party and w.priority >= floor
                and w.state = 'queued' and w.deadline_at > now()
                and (w.detached_at is null or w.detached_at > now() - make_interval(secs => _abandon_after_ms / 1000.0))
              order by w.priority
              limit least(2 * _slots, f.room) + 1) h) head) c;
  if seen = 0 then
    return;
  end if;
  most := case when heads > 1 then (_slots + 1) / 2 else _slots end;

  return query
  with free as (
    select w.id, w.priority, octet_length(w.input) as bytes from work w
     where w.id = any (candidates[1 : 2 * most]) and w.state = 'queued'
     order by w.priority, w.id limit most for update skip locked
  ), first as (
    select b.id
      from (select f.id, sum(f.bytes) over (order by f.priority, f.id) - f.bytes as bytes_before from free f) b
     where b.bytes_before < 262144
  ), claimed as (
    update work w set state = 'running', worker = _worker, started_at = clock_timestamp()
      from first where w.id = any (candidates[1 : 2 * most]) and w.id = first.id
    returning w.*
  )
  select c.id, c.kind, c.party, c.month, c.attempt, c.connection_id, c.input, c.facts,
         (extract(epoch from c.started_at - c.admitted_at) * 1000)::float8,
         (extract(epoch from c.deadline_at - c.started_at) * 1000)::float8
    from claimed c;
  get diagnostics taken = row_count;
  if taken < seen then
    return query
    select null::uuid, null, null::uuid, null, coalesce(cardinality(candidates), 0) - taken, null::uuid, null, null,
           null::float8, null::float8;
  end if;
end $$;
