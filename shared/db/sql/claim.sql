-- Checks whether a worker may claim a piece of work. A piece whose callers all left before it began waits until one
-- comes back or it is abandoned. The deadline is compared in a form that no index on deadlines serves: such an index
-- would make the planner read other parties' work.
create or replace function is_claimable(_work work) returns boolean
language sql stable as $$
  select _work.state = 'queued' and _work.deadline_at - now() > interval '0'
     and coalesce(_work.detached_at = 'infinity', true)
$$;

-- Claims the oldest queued work of the given flows, in the order of the flows: at most `_counts` pieces of each and
-- `_slots` in all. Returns each piece with the latest answer of its line. A row without an id names a flow that still
-- has claimable work. A flow of a kind in `_one_at_a_time` has at most one piece running, over all workers.
--
-- Reads each flow from `_since` on (Unix milliseconds; null: from `_reach_ms` ago). Further back there are only index
-- entries of ended work, which stay for as long as any old snapshot of the database is open. A claim ends with the
-- piece that reaches 256 KiB of requests, because a worker that parses many large requests serves nobody meanwhile.
-- The commit does not wait for the disk: if a crash of the database server undoes a claim, the work is queued again,
-- and its worker takes it back (`reclaim_v1`).
create or replace function claim_v2(
  _kinds text[], _parties uuid[], _counts int[], _since float8[], _slots int, _worker uuid, _one_at_a_time text[],
  _reach_ms int)
returns table (
  id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text,
  queued_ms float8, left_ms float8, queued_at_ms float8, latest text)
language plpgsql
as $$
#variable_conflict use_column
declare
  reach timestamptz := now() - make_interval(secs => _reach_ms / 1000.0);
  ignored text;
begin
  -- An assignment evaluates the call as a simple expression; `perform` would run it as a query.
  ignored := set_config('synchronous_commit', 'off', true);
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
         (extract(epoch from c.queued_at) * 1000)::float8,
         case when c.line is not null then latest_answer_v1(c.line, c.party) end
    from claimed c;
  return query
  select null::uuid, a.kind, a.party, null, null::int, null::uuid, null, null, null::float8, null::float8, null::float8,
         null
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

-- Returns the latest answer of a line, while it is kept, with its facts and report, as JSON; null if there is none. An
-- answer made under a grant in `erasing_grants` counts as erased.
create or replace function latest_answer_v1(_line uuid, _party uuid)
returns text
language plpgsql stable
as $$
begin
  return (
    select json_build_object(
             'id', a.id, 'answer', a.answer, 'facts', h.facts::json, 'report', h.report::json,
             'fingerprintKey', (select encode(p.fingerprint_key, 'base64') from apps p where p.id = h.party),
             'dismissed', exists (
               select from prediction_events e
                where e.prediction_id in (a.id, (h.report::json ->> 'continues')::uuid) and e.kind = 'dismissed'))::text
      from (select l.* from answers l where l.line = _line order by l.id desc limit 1) a
     cross join lateral (
       select p.* from history p
        where p.key = a.key and p.id = a.id and p.state = 'suggested' and p.ended_at > now() - tombstone_age()
        order by p.attempt desc limit 1) h
     where a.expires_at > now() and h.party = _party
       and not exists (
         select from erasing_grants g
          where g.connection_id = h.connection_id and h.admitted_at <= g.ended_at
            and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int)));
end $$;

-- Returns the flows that own the 250 oldest and the 250 newest queued pieces of each kind. Workers normally learn of
-- work from wake-ups; this catches what they missed, and reads a bounded number of rows however long the queue is.
create or replace function queued_flows_v1(_kinds text[]) returns table (kind text, party uuid)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select distinct k.kind, q.party
    from unnest(_kinds) as k (kind)
   cross join lateral (
     (select w.party from work w
       where w.kind = k.kind and w.deadline_at > now() and w.state = 'queued' order by w.deadline_at limit 250)
     union all
     (select w.party from work w
       where w.kind = k.kind and w.deadline_at > now() and w.state = 'queued' order by w.deadline_at desc limit 250)
   ) q;
end $$;
