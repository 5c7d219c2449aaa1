-- What the leader repairs. Everything here reads a bounded number of rows by an index. `_reach_ms`, unless null, is how
-- far back it looks: further back are mostly index entries of ended work, which stay for as long as any old snapshot of
-- the database is open.

-- Live work that is past its deadline: of each kind up to 1000 pieces after a place in the order of deadlines.
create or replace function overdue_v1(_kinds text[], _after_ms float8[], _after_ids uuid[], _reach_ms int)
returns table (id uuid, kind text, party uuid, month text, deadline_ms float8)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select o.id, a.kind, o.party, o.month, (extract(epoch from o.deadline_at) * 1000)::float8
    from unnest(_kinds, _after_ms, _after_ids) as a (kind, after_ms, after_id)
   cross join lateral (
     select w.id, w.party, w.month, w.deadline_at from work w
      where w.kind = a.kind and w.deadline_at <= now()
        and (w.deadline_at, w.id) > (
          greatest(to_timestamp(a.after_ms / 1000), now() - make_interval(secs => _reach_ms / 1000.0)), a.after_id)
      order by w.deadline_at, w.id limit 1000) o;
end $$;

-- Queued work whose callers have all left, the longest ago first.
create or replace function abandoned_v1(_grace_ms int, _reach_ms int)
returns table (id uuid, kind text, party uuid, month text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select w.id, w.kind, w.party, w.month from work w
   where w.detached_at <= now() - make_interval(secs => _grace_ms / 1000.0)
     and w.detached_at > coalesce(now() - make_interval(secs => _reach_ms / 1000.0), '-infinity')
     -- As the index says it.
     and w.detached_at < 'infinity'
     and w.state = 'queued' and w.waiters = '{}'
   order by w.detached_at limit 1000;
end $$;

-- Up to 1000 pieces of a kind's live work, before its deadline, after a place in the order of deadlines: those that
-- have lost their worker or all their callers with a process that died, and why; and the last of the thousand.
-- `_judge` is the process that asks: one that was itself cut off from the database declares nobody dead until its own
-- heartbeats have been unbroken for a lease. A process that is only slow comes back with its next heartbeat, so
-- callers have a grace period.
create or replace function sweep_v1(
  _kind text, _after_ms float8, _after_id uuid, _judge uuid, _lease_ms int, _grace_ms int)
returns table (id uuid, kind text, party uuid, month text, verdict text, deadline_ms float8, is_last boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  sighted boolean := exists (
    select from processes a
     where a.id = _judge and a.alive_until > now() and a.since < now() - make_interval(secs => _lease_ms / 1000.0));
  long_ago timestamptz := now() - make_interval(secs => _grace_ms / 1000.0);
  living uuid[] := array(select a.id from processes a where a.alive_until > now());
  lately uuid[] := array(select a.id from processes a where a.alive_until > long_ago);
begin
  if not sighted then
    return;
  end if;
  return query
  select s.id, _kind, s.party, s.month, s.verdict, (extract(epoch from s.deadline_at) * 1000)::float8,
         s.place = 1000
    from (
      select w.id, w.party, w.month, w.deadline_at, row_number() over (order by w.deadline_at, w.id) as place,
             case
               when w.cancel_on_disconnect and not w.waiters && lately then 'detached'
               when w.state = 'queued' and w.admitted_at <= long_ago and coalesce(w.detached_at <= long_ago, true)
                and not w.waiters && lately then 'abandoned'
               when w.state = 'running' and not w.worker = any (living) then 'orphaned'
             end as verdict
        from work w
       where w.kind = _kind
         and (w.deadline_at, w.id) > (greatest(to_timestamp(_after_ms / 1000), now()), _after_id)
       order by w.deadline_at, w.id limit 1000) s
   where s.verdict is not null or s.place = 1000
   order by s.place;
end $$;

-- Queues orphaned work again, as a new attempt: if the process that ran it comes back, its answer is refused.
create or replace function take_over_v1(_ids uuid[]) returns table (kind text, party uuid)
language sql
as $$
  update work w
     set state = 'queued', attempt = w.attempt + 1, worker = null, started_at = null
   where w.id = any (_ids) and w.id in (
     select o.id from work o
      where o.id = any (_ids) and o.state = 'running'
        and not exists (select from processes a where a.id = o.worker and a.alive_until > now())
      order by o.id for update skip locked)
  returning w.kind, w.party
$$;
