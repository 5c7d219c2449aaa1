-- Repairs by the housekeeping. Each reads a bounded number of rows by an index. `_reach_ms`, unless null, is how
-- far back it looks: further back there are mostly index entries of ended work, which stay for as long as any old
-- snapshot of the database is open.

-- Returns queued work of these kinds whose callers all left at least `_grace_ms` ago: up to 1000 pieces, longest ago
-- first. Work of other kinds belongs to processes of another version.
create or replace function abandoned_v1(_kinds text[], _grace_ms int, _reach_ms int)
returns table (id uuid, kind text, party uuid, month text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select w.id, w.kind, w.party, w.month from work w
   where w.detached_at <= now() - make_interval(secs => _grace_ms / 1000.0)
     and w.detached_at > coalesce(now() - make_interval(secs => _reach_ms / 1000.0), '-infinity')
     -- Repeats the predicate of the index, so that the index serves.
     and w.detached_at < 'infinity'
     and w.state = 'queued' and w.waiters = '{}' and w.kind = any (_kinds)
   order by w.detached_at limit 1000;
end $$;

-- Reads up to 1000 pieces of live work of each kind, in the order of deadlines, after a given place. Returns those that
-- have to end or to run again, with the reason, and in any case the thousandth, after which the next call goes on.
-- Without `_judge`, it reads work whose deadline has passed; with it, work whose deadline is still to come, but which
-- may have lost its worker or all its callers with a process that died.
--
-- `_judge` is the process that asks. It declares no other process dead until its own heartbeats have been unbroken for
-- a lease, since it may itself have been cut off from the database. Callers have a grace period, because an ingress
-- that is merely slow comes back with its next heartbeat.
--
-- Sorting is off, so that whatever the statistics say, rows are read from work_deadline: an index in another order also
-- holds what ended long ago, for as long as a snapshot keeps it.
create or replace function casualties_v1(
  _kinds text[], _after_ms float8[], _after_ids uuid[], _reach_ms int, _judge uuid, _lease_ms int, _grace_ms int)
returns table (id uuid, kind text, party uuid, month text, verdict text, deadline_ms float8, is_last boolean)
language plpgsql
set enable_sort = off
as $$
#variable_conflict use_column
declare
  earliest timestamptz :=
    now() - make_interval(secs => case when _judge is null then _reach_ms / 1000.0 else 0 end);
  latest timestamptz := case when _judge is null then now() else 'infinity' end;
  long_ago timestamptz := now() - make_interval(secs => _grace_ms / 1000.0);
  living uuid[];
  lately uuid[];
begin
  if _judge is not null then
    if not exists (
      select from processes a
       where a.id = _judge and is_alive(a.alive_until)
          and a.since < now() - make_interval(secs => _lease_ms / 1000.0))
    then
      return;
    end if;
    living := array(select a.id from processes a where is_alive(a.alive_until));
    lately := array(select a.id from processes a where is_alive(a.alive_until, _grace_ms));
  end if;
  return query
  select s.id, s.kind, s.party, s.month, s.verdict, (extract(epoch from s.deadline_at) * 1000)::float8, s.place = 1000
    from unnest(_kinds, _after_ms, _after_ids) as a (kind, after_ms, after_id)
   cross join lateral (
     select w.id, w.kind, w.party, w.month, w.deadline_at, row_number() over (order by w.deadline_at, w.id) as place,
            case
              when _judge is null then 'overdue'
              when w.cancel_on_disconnect and not w.waiters && lately then 'detached'
              when w.state = 'queued' and w.admitted_at <= long_ago and coalesce(w.detached_at <= long_ago, true)
               and not w.waiters && lately then 'abandoned'
              when w.state = 'running' and not w.worker = any (living) then 'orphaned'
            end as verdict
       from work w
      where w.kind = a.kind and w.deadline_at <= latest
        and (w.deadline_at, w.id) > (greatest(to_timestamp(a.after_ms / 1000), earliest), a.after_id)
      order by w.deadline_at, w.id limit 1000) s
   where s.verdict is not null or s.place = 1000
   order by s.deadline_at, s.id;
end $$;

-- Queues orphaned work again, as a new attempt: if the process that ran it comes back, its answer is refused. Work that
-- has begun outlives its callers: only work that never ran is abandoned.
create or replace function take_over_v1(_ids uuid[]) returns table (id uuid, kind text, party uuid)
language sql
as $$
  update work w
     set state = 'queued', attempt = w.attempt + 1, worker = null, started_at = null, detached_at = 'infinity'
   where w.id = any (_ids) and w.id in (
     select o.id from work o
      where o.id = any (_ids) and o.state = 'running'
        and not exists (select from processes a where a.id = o.worker and is_alive(a.alive_until))
      order by o.id for update skip locked)
  returning w.id, w.kind, w.party
$$;
