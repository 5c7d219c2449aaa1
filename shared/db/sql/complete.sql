-- Ends work of one party and settles or refunds its units, in one transaction. Each item has a guard: what must still
-- be true of its row (`CompletionGuard` in `stores/work/complete.ts`). An item whose guard fails changes nothing.
-- Returns the places of the items that took effect. An answer is not kept if memory that it was made from
-- (`made_from`) has been deleted.
--
-- The party is compared with `is not distinct from`, which no index serves: on a small table the planner would rate
-- the index on parties as good as the ids, and then read all ended work of the party that is not vacuumed yet.
--
-- The items are one object with the ids as keys, so that each row looks its item up: a join would compare each row
-- with each item.
create or replace function complete_v1(_party uuid, _batch json, _answers text[], _window_s int, _grace_ms int)
returns table (place int)
language plpgsql
as $$
#variable_conflict use_column
declare
  ids uuid[];
  items jsonb;
  months text[];
  by_callers boolean;
  living uuid[];
  of_month text;
  ended_places int[] := '{}';
  booking record;
  used usage%rowtype;
begin
  perform need_week_v1();
  select array_agg((i ->> 'id')::uuid), jsonb_object_agg(i ->> 'id', i), array_agg(distinct i ->> 'month'),
         bool_or(i ->> 'guard' in ('abandoned', 'detached'))
    into ids, items, months, by_callers
    from jsonb_array_elements(_batch::jsonb) i;
  -- An ingress that misses heartbeats may merely be slow: its callers count as waiting for `_grace_ms` more. Processes
  -- are read only for the guards that need them: heartbeats leave many dead rows while an old snapshot is open.
  if by_callers then
    living := array(
      select a.id from processes a where is_alive(a.alive_until, _grace_ms));
  end if;
  foreach of_month in array coalesce(months, '{}') loop
    if of_month is not null then
      used := lock_usage_v1(_party, of_month);
    end if;
  end loop;
  for booking in
    with gone as (
      delete from work w
       where w.id = any (ids) and w.party is not distinct from _party
         and (select case i ->> 'guard'
                when 'attempt' then w.attempt = (i -> 'attempt')::int and w.worker = (i ->> 'worker')::uuid
                  and w.deadline_at > clock_timestamp()
                when 'queued' then w.state = 'queued' and w.attempt = (i -> 'attempt')::int
                when 'live' then w.attempt = coalesce((i -> 'attempt')::int, w.attempt)
                when 'overdue' then w.deadline_at <= now() or w.admitted_at > now() + clock_slack()
                when 'abandoned' then w.state = 'queued' and not w.waiters && living
                when 'detached' then not w.waiters && living
                else false
              end from (select items -> w.id::text as i) o)
      returning w.id, w.kind, w.party, w.key, w.line, w.fingerprint, w.attempt, w.admission, w.connection_id,
                w.admitted_at, w.started_at, w.month, w.plan, w.price_microcents, w.facts, items -> w.id::text as i
    ), ended as (
      select g.*, (g.i -> 'place')::int as place, g.i ->> 'state' as state, g.i ->> 'code' as code,
             g.i ->> 'source' as source, g.i ->> 'report' as report,
             ((g.i -> 'settle')::bool and g.month is not null)::int as units
        from gone g
    ), archived as (
      insert into history (
        id, kind, party, key, fingerprint, state, code, source, attempt, admission, connection_id, admitted_at,
        started_at, ended_at, expires_at, month, plan, price_microcents, units, facts, report)
      select e.id, e.kind, e.party, e.key, e.fingerprint, e.state, e.code, e.source, e.attempt, e.admission,
             e.connection_id, e.admitted_at, e.started_at, now(), window_end(_window_s), e.month, e.plan,
             e.price_microcents, e.units, e.facts, e.report
        from ended e
    ), answered as (
      insert into answers (id, answer, key, line, expires_at)
      select e.id, _answers[e.place + 1], e.key, e.line, window_end(_window_s)
        from ended e
       where _answers[e.place + 1] is not null
         and (e.i -> 'made_from' is null or is_left(e.party, e.i -> 'made_from'))
      on conflict (id) do nothing
    )
    select e.month, array_agg(e.place) as places, count(*) as ended, sum(e.units) as units,
           count(*) filter (where e.plan = 'paid') as paid_ended,
           coalesce(sum(e.units) filter (where e.plan = 'paid'), 0) as paid_units,
           coalesce(sum(e.price_microcents) filter (where e.plan = 'paid'), 0) as paid_ended_microcents,
           coalesce(sum(e.price_microcents * e.units) filter (where e.plan = 'paid'), 0) as paid_units_microcents
      from ended e group by e.month
  loop
    if booking.month is not null then
      if used.month is distinct from booking.month then
        used := lock_usage_v1(_party, booking.month);
      end if;
      used.reserved := used.reserved - booking.ended;
      used.settled := used.settled + booking.units;
      used.paid_reserved := used.paid_reserved - booking.paid_ended;
      used.paid_settled := used.paid_settled + booking.paid_units;
      used.paid_reserved_microcents := used.paid_reserved_microcents - booking.paid_ended_microcents;
      used.paid_settled_microcents := used.paid_settled_microcents + booking.paid_units_microcents;
      perform store_usage_v1(used);
    end if;
    ended_places := ended_places || booking.places;
  end loop;
  return query select unnest(ended_places);
end $$;
