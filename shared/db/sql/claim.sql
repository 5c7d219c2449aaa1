-- Checks whether a worker may claim a piece of work. A piece whose callers all left before it began waits until one
-- comes back or it is abandoned. The deadline is compared in a form that no index on deadlines serves: such an index
-- would make the planner read other parties' work.
create or replace function is_claimable(_work work) returns boolean
language sql stable as $$
  select _work.state = 'queued' and _work.deadline_at - now() > interval '0'
     and coalesce(_work.detached_at = 'infinity', true)
$$;

-- Claims the oldest queued work of the given flows, in the order of the flows: at most `_counts` pieces of each and
-- `_slots` in all. A row without an id names a flow that still has claimable work. A flow of a kind in
-- `_one_at_a_time` has at most one piece running, over all workers.
--
-- Reads each flow from `_since` on (Unix milliseconds; null: from `_reach_ms` ago). Further back there are only index
-- entries of ended work, which stay for as long as any old snapshot of the database is open. A claim ends with the
-- piece that reaches 256 KiB of requests, because a worker that parses many large requests serves nobody meanwhile.
create or replace function claim_v1(
  _kinds text[], _parties uuid[], _counts int[], _since float8[], _slots int, _worker uuid, _one_at_a_time text[],
  _reach_ms int)
returns table (
  id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text,
  queued_ms float8, left_ms float8, queued_at_ms float8, line uuid)
language plpgsql
as $$
#variable_conflict use_column
declare
  reach timestamptz := now() - make_interval(secs => _reach_ms / 1000.0);
begin
  return query
  with free as (
    select f.id, f.bytes, a.place
      from unnest(_kinds, _parties, _counts, _since) with ordinality as a (kind, party, count, since, place)
     cross join lateral (
       select w.id, octet_length(w.input) as bytes from work w
        where w.kind = a.kind and w.party = a.party
          and w.queued_at >= coalesce(to_timestamp(a.since / 1000), reach)
          and is_claimable(w)
          -- One at a time: takes only the flow's first piece, and none while another worker is claiming that piece.
          and (a.kind <> all (_one_at_a_time)
            or w.id = first_of_idle_flow_v1(a.kind, a.party, reach))
        order by w.queued_at limit a.count for update skip locked) f
     limit _slots
  ), first as (
    select b.id
      from (select f.id, sum(f.bytes) over (order by f.place rows unbounded preceding) - f.bytes as bytes_before
              from free f) b
     where b.bytes_before < 262144
  ), claimed as (
    update work w set state = 'running', worker = _worker, started_at = clock_timestamp()
      from first where w.id = first.id
    returning w.*
  )
  select c.id, c.kind, c.party, c.month, c.attempt, c.connection_id, c.input, c.facts,
         (extract(epoch from c.started_at - c.admitted_at) * 1000)::float8,
         (extract(epoch from c.deadline_at - c.started_at) * 1000)::float8,
         (extract(epoch from c.queued_at) * 1000)::float8, c.line
    from claimed c;
  return query
  select null::uuid, a.kind, a.party, null, null::int, null::uuid, null, null, null::float8, null::float8, null::float8,
         null::uuid
    from unnest(_kinds, _parties, _since) as a (kind, party, since)
   where case
           when a.kind = any (_one_at_a_time)
           then first_of_idle_flow_v1(a.kind, a.party, reach) is not null
           -- Avoids `exists`, which drops `order by`: only the order makes the planner use the flow's own index.
           else (
             select true from work w
              where w.kind = a.kind and w.party = a.party
                and w.queued_at >= coalesce(to_timestamp(a.since / 1000), reach)
                and is_claimable(w)
              order by w.queued_at limit 1)
         end;
end $$;

-- Returns the first claimable piece of a flow; null while a piece of the flow runs, or if none is claimable.
create or replace function first_of_idle_flow_v1(_kind text, _party uuid, _reach timestamptz)
returns uuid
language plpgsql stable
as $$
begin
  if exists (
    select from work w where w.kind = _kind and w.party = _party and w.queued_at >= _reach and w.state = 'running')
  then
    return null;
  end if;
  return (
    select w.id from work w
     where w.kind = _kind and w.party = _party and w.queued_at >= _reach and is_claimable(w)
     order by w.queued_at limit 1);
end $$;

-- Returns the flows that own the 500 oldest queued pieces of each kind and, if there are so many, those of 500 parties
-- with live work, wherever it is in the queue: one step down work_order finds the next party. Workers normally learn of
-- work from wake-ups; this catches what they missed, and reads a bounded number of rows however long the queue is.
--
-- Sorting is off, so that whatever the statistics say, the oldest are read from work_deadline: work_order also holds
-- what ended long ago, for as long as a snapshot keeps it.
create or replace function queued_flows_v1(_kinds text[]) returns table (kind text, party uuid)
language plpgsql
set enable_sort = off
as $$
declare
  of_kind text;
  parties uuid[];
begin
  foreach of_kind in array _kinds loop
    parties := array(
      select w.party from work w
       where w.kind = of_kind and w.deadline_at > now() and w.state = 'queued' order by w.deadline_at limit 500);
    if cardinality(parties) = 500 then
      parties := parties || array(
        with recursive live as (
          select '00000000-0000-0000-0000-000000000000'::uuid as party
          union all
          select (select w.party from work w where w.kind = of_kind and w.party > l.party
                   order by w.party, w.queued_at limit 1)
            from live l where l.party is not null
        )
        select l.party from live l where l.party is not null offset 1 limit 500);
    end if;
    return query select of_kind, p.party from (select distinct unnest(parties) as party) p;
  end loop;
end $$;
