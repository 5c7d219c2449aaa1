-- The live work that has to end without an answer, or has lost its worker, and why. `_judge` is the process that asks:
-- one that was itself cut off from the database declares nobody dead until its own heartbeats have been unbroken for a
-- lease. Parties take turns in the rows that it returns: one with more of them than fit, which nobody can end while it
-- is locked, hides no other.
create or replace function survey_v1(_kinds text[], _judge uuid, _lease_ms int, _grace_ms int)
returns table (id uuid, kind text, party uuid, month text, attempt int, verdict text)
language plpgsql
as $$
#variable_conflict use_column
declare
  floor bigint := queue_floor_v2(_kinds);
  sighted boolean := exists (
    select from processes a
     where a.id = _judge and a.alive_until > now() and a.since < now() - make_interval(secs => _lease_ms / 1000.0));
  long_ago timestamptz := now() - make_interval(secs => _grace_ms / 1000.0);
  living uuid[] := array(select a.id from processes a where a.alive_until > now());
  lately uuid[] := array(select a.id from processes a where a.alive_until > long_ago);
begin
  return query
  select v.id, v.kind, v.party, v.month, v.attempt, v.verdict
    from flows f
   cross join lateral (
     select c.*, row_number() over () as place
       from (
         select w.id, w.kind, w.party, w.month, w.attempt,
                case
                  when w.deadline_at <= now() then 'overdue'
                  when w.state = 'queued' and w.waiters = '{}' and w.detached_at <= long_ago then 'abandoned'
                  when not sighted then null
                  when w.cancel_on_disconnect and not w.waiters && lately then 'detached'
                  when w.state = 'queued' and w.admitted_at <= long_ago and coalesce(w.detached_at <= long_ago, true)
                   and not w.waiters && lately then 'abandoned'
                  when w.state = 'running' and not w.worker = any (living) then 'orphaned'
                end as verdict
           from work w
          where w.kind = f.kind and w.party = f.party and w.priority >= floor offset 0) c
      where c.verdict is not null
      limit 1000) v
   where f.kind = any (_kinds)
   order by v.place
   limit 1000;
end $$;
