-- Admits a batch of one party's requests, in the order of their arrival, in one transaction. An item is decided in the
-- contract's order: connection, idempotency, stale context, load shedding, units. No two items of a batch share a
-- request key or a line.
--
-- Outcomes: `admitted` (also when this very call admitted it before: the statement is safe to repeat), `attached`,
-- `ended` (its history has the answer), `retry` (another process changed it meanwhile), or the code of a refusal, which
-- leaves nothing behind.
--
-- Lock order, here and everywhere: connections by id, the flow, usage by month, work by id.
create or replace function admit_v3(
  _kind text, _kinds text[], _party uuid, _process uuid, _batch json, _inputs text[], _connections uuid[],
  _timeout_ms int, _window_s int, _step int, _sandbox_units int, _price bigint)
returns table (place int, outcome text, id uuid, attempt int, left_ms float8, superseded uuid[])
language plpgsql
set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  item record;
  app apps%rowtype;
  used usage%rowtype;
  freed record;
  latest bigint;
  deadline timestamptz;
  floor bigint := coalesce((select min(q.floor) from queues q where q.kind = any (_kinds)), 0);
  this_month text := month_of(now());
  this_week date := date_trunc('week', now() at time zone 'UTC')::date;
  -- Live work was admitted this month, or less than an hour ago in the last one.
  months text[] := array[month_of(now() - interval '1 hour'), month_of(now())];
  admitted_places int[] := '{}';
  admitted_ids uuid[] := '{}';
  admitted_attempts int[] := '{}';
  admitted_priorities bigint[] := '{}';
  victims uuid[] := '{}';
begin
  if cardinality(_connections) > 0 then
    perform from connections c where c.id = any (_connections) order by c.id for share;
  end if;

  loop
    perform from flows f where f.kind = _kind and f.party = _party for update;
    exit when found;
    insert into flows (kind, party, touched_at) values (_kind, _party, now()) on conflict do nothing;
  end loop;
  update flows f set touched_at = now()
   where f.kind = _kind and f.party = _party and f.touched_at < now() - interval '10 seconds';

  if _price is not null then
    insert into usage (app_id, month)
    select _party, this_month where not exists (select from usage u where u.app_id = _party and u.month = this_month)
    on conflict do nothing;
    perform from usage u where u.app_id = _party and u.month = any (months) order by u.month for update;
    select * into strict used from usage u where u.app_id = _party and u.month = this_month;
    select * into strict app from apps a where a.id = _party;
  end if;

  -- An app's backlog keeps its order; who has none starts where the order has come to.
  select w.priority into latest
    from work w
   where w.kind = _kind and w.party = _party and w.priority >= floor and w.state = 'queued'
   order by w.priority desc limit 1;
  if latest is null then
    latest := virtual_time_v1(_kinds, floor);
  end if;

  for item in
    select i.*,
           w.id as live_id, w.attempt as live_attempt, w.admission as live_admission, w.attachment as live_attachment,
           w.fingerprint as live_fingerprint, w.waiters as live_waiters, w.deadline_at as live_deadline,
           h.id as past_id, h.attempt as past_attempt, h.admission as past_admission, h.state as past_state,
           h.fingerprint as past_fingerprint, h.expires_at as past_expires_at,
           d.revision as known_revision, d.text_hash as known_text_hash,
           exists (select from work v where v.line = i.line and v.supersedable and v.revision < i.revision) as supersedes,
           case when w.id is null and h.id is null then o.id end as legacy_id,
           case
             when i.connection_id is null then null
             when c.id is null then 'not_found'
             when c.user_id <> i.user_id then 'access_denied'
             when c.status <> 'connected' then 'connection_revoked'
           end as refusal
      from json_to_recordset(_batch) as i (
        place int, id uuid, key uuid, fingerprint bytea, request_id text, user_id text, session_id text, line uuid,
        revision bigint, text_hash bytea, supersedable boolean, connection_id uuid, wait boolean,
        cancel_on_disconnect boolean, overloaded boolean)
      -- `offset 0` keeps each look-up one by its key: joined, an empty table's plan reads all of a large one.
      left join lateral (
        select n.id, n.user_id, n.status from connections n
         where n.id = i.connection_id and n.app_id = _party offset 0) c on true
      left join lateral (select l.* from work l where l.key = i.key offset 0) w on true
      left join lateral (
        select p.* from history p
         where w.id is null and p.key = i.key
           and p.ended_at > now() - interval '35 days' and p.ended_at < now() + interval '1 minute'
         order by p.ended_at desc limit 1) h on true
      left join lateral (
        select r.revision, r.text_hash from drafts r
         where r.line = i.line and r.week > this_week - 42 and r.week <= this_week and r.updated_at > now() - interval '35 days'
         order by r.week desc limit 1) r on true
      left join lateral (
        select s.revision, s.text_hash from prediction_sessions s
         where _kind = 'predict' and r.revision is null
           and s.app_id = _party and s.user_id = i.user_id and s.session_id = i.session_id
           and s.updated_at > now() - interval '35 days' offset 0) s on true
     cross join lateral (
       select coalesce(r.revision, s.revision) as revision, coalesce(r.text_hash, s.text_hash) as text_hash) d
      left join lateral (
        select p.id from predictions p
         where _kind = 'predict' and w.id is null and h.id is null
           and p.app_id = _party and p.request_id = i.request_id offset 0) o on true
     order by i.place
  loop
    place := item.place;
    outcome := item.refusal;
    id := item.id;
    attempt := 1;
    left_ms := _timeout_ms;
    superseded := '{}';
    if outcome is not null then
      return next;
      continue;
    end if;

    -- Idempotency
    if item.legacy_id is not null then
      perform adopt_v1(_party, item.request_id, _process, _kinds);
      outcome := 'retry';
      return next;
      continue;
    end if;
    if item.live_id is not null then
      id := item.live_id;
      attempt := item.live_attempt;
      left_ms := extract(epoch from item.live_deadline - clock_timestamp()) * 1000;
      outcome := case
        when item.live_admission = item.id then 'admitted'
        when item.live_fingerprint <> item.fingerprint then 'idempotency_conflict'
        when item.live_attachment = item.id or item.wait or not exists (
          select from processes a where a.id = any (item.live_waiters) and a.alive_until > now()) then 'attached'
        else 'request_in_flight'
      end;
      if outcome = 'attached' then
        update work w
           set waiters = array_append(array_remove(w.waiters, _process), _process), attachment = item.id,
               detached_at = null, cancel_on_disconnect = item.cancel_on_disconnect
         where w.id = item.live_id;
        if not found then
          outcome := 'retry';
        end if;
      end if;
      return next;
      continue;
    end if;
    if item.past_id is not null then
      id := item.past_id;
      attempt := item.past_attempt;
      outcome := case
        when item.past_admission = item.id then 'admitted'
        when item.past_expires_at <= now() then 'recovery_window_expired'
        when item.past_fingerprint <> item.fingerprint then 'idempotency_conflict'
        when item.past_state <> 'failed' then 'ended'
      end;
      if outcome is not null then
        return next;
        continue;
      end if;
      attempt := item.past_attempt + 1;
    end if;

    -- Stale context
    if item.revision < item.known_revision
      or (item.revision = item.known_revision and item.text_hash <> item.known_text_hash)
    then
      outcome := 'context_revision_conflict';
    -- Load shedding
    elsif item.overloaded then
      outcome := 'overloaded';
    end if;
    if outcome is not null then
      return next;
      continue;
    end if;

    -- Whom it supersedes: their units are free for it, and a place in the queue passes on.
    if item.supersedes and item.supersedable and coalesce(app.supersede, true) then
      select array_agg(v.id) as ids,
             (count(*) filter (where v.month = this_month))::int as units,
             (count(*) filter (where v.month = this_month and v.plan = 'paid'))::int as paid_units,
             coalesce(sum(v.price_microcents) filter (where v.month = this_month and v.plan = 'paid'), 0) as microcents,
             min(v.priority) filter (where v.state = 'queued') as priority
        into freed
        from (
          select w.* from work w
           where w.line = item.line and w.supersedable and w.revision < item.revision
           order by w.id for update) v;
    else
      select '{}'::uuid[] as ids, 0 as units, 0 as paid_units, 0::numeric as microcents, null::bigint as priority into freed;
    end if;

    -- Units
    if _price is not null then
      outcome := case
        when app.plan = 'sandbox'
         and used.reserved + used.settled - used.paid_reserved - used.paid_settled
             - (freed.units - freed.paid_units) >= _sandbox_units then 'sandbox_exhausted'
        when app.plan = 'paid' and (
          app.cap_cents = 0
          or used.paid_reserved_microcents + used.paid_settled_microcents - freed.microcents + _price
             > app.cap_cents * 1000000) then 'monthly_cap_reached'
      end;
      if outcome is not null then
        return next;
        continue;
      end if;
      used.reserved := used.reserved + 1 - freed.units;
      used.paid_reserved := used.paid_reserved + (app.plan = 'paid')::int - freed.paid_units;
      used.paid_reserved_microcents := used.paid_reserved_microcents
        + case when app.plan = 'paid' then _price else 0 end - freed.microcents;
    end if;

    -- Admitted
    outcome := 'admitted';
    superseded := coalesce(freed.ids, '{}');
    victims := victims || superseded;
    if freed.priority is null then
      latest := latest + _step;
    end if;
    admitted_places := admitted_places || place;
    admitted_ids := admitted_ids || id;
    admitted_attempts := admitted_attempts || attempt;
    admitted_priorities := admitted_priorities || coalesce(freed.priority, latest);
    return next;
  end loop;

  if cardinality(victims) > 0 then
    with ended as (
      delete from work w where w.id = any (victims) returning w.*
    ), archived as (
      insert into history (
        id, kind, party, key, fingerprint, state, code, attempt, admission, connection_id, admitted_at, started_at,
        ended_at, expires_at, month, plan, price_microcents, facts)
      select e.id, e.kind, e.party, e.key, e.fingerprint, 'cancelled', 'prediction_superseded', e.attempt, e.admission,
             e.connection_id, e.admitted_at, e.started_at, now(), window_end(_window_s), e.month, e.plan,
             e.price_microcents, e.facts
        from ended e
    ), mirrored as (
      update predictions p
         set state = 'cancelled', code = 'prediction_superseded', ended_at = now(), expires_at = window_end(_window_s)
        from ended e where p.id = any (victims) and p.id = e.id and p.month = 'moved'
    )
    -- Those of this month stand in `used` already.
    update usage u
       set reserved = u.reserved - s.units, paid_reserved = u.paid_reserved - s.paid_units,
           paid_reserved_microcents = u.paid_reserved_microcents - s.microcents
      from (select e.month, count(*) as units, count(*) filter (where e.plan = 'paid') as paid_units,
                   coalesce(sum(e.price_microcents) filter (where e.plan = 'paid'), 0) as microcents
              from ended e where e.month <> this_month group by e.month) s
     where u.app_id = _party and u.month = s.month;
  end if;

  if cardinality(admitted_places) > 0 then
    deadline := clock_timestamp() + make_interval(secs => _timeout_ms / 1000.0);
    insert into work (
      id, kind, party, key, priority, attempt, admission, fingerprint, line, revision, supersedable, connection_id,
      waiters, cancel_on_disconnect, admitted_at, deadline_at, month, plan, price_microcents, facts, input)
    select a.id, _kind, _party, i.key, a.priority, a.attempt, i.id, i.fingerprint, i.line, i.revision, i.supersedable,
           i.connection_id, array[_process], i.cancel_on_disconnect, clock_timestamp(), deadline,
           case when _price is not null then this_month end, app.plan, _price, i.facts, _inputs[a.place + 1]
      from unnest(admitted_places, admitted_ids, admitted_attempts, admitted_priorities)
           as a (place, id, attempt, priority)
      join json_to_recordset(_batch) as i (
        place int, id uuid, key uuid, fingerprint bytea, line uuid, revision bigint, supersedable boolean,
        connection_id uuid, cancel_on_disconnect boolean, facts text) on i.place = a.place;

    insert into drafts as d (line, week, revision, text_hash, updated_at)
    select i.line, this_week, i.revision, i.text_hash, now()
      from json_to_recordset(_batch) as i (place int, line uuid, revision bigint, text_hash bytea)
     where i.place = any (admitted_places) and i.line is not null
     order by i.line
        on conflict (line, week) do update
       set revision = excluded.revision, text_hash = excluded.text_hash, updated_at = excluded.updated_at;

    update usage u
       set reserved = used.reserved, paid_reserved = used.paid_reserved,
           paid_reserved_microcents = used.paid_reserved_microcents
     where _price is not null and u.app_id = _party and u.month = this_month;
  end if;
end $$;
