-- Admits a batch of one party's requests, in the order of their arrival, in one transaction. Each item is decided in
-- the contract's order: connection, idempotency, stale context, load shedding, tokens, units. No two items of a batch
-- share a request key or a line.
--
-- Outcomes: `admitted` (also if this very call admitted it before: the statement is safe to repeat), `attached` (waits
-- for the same request's live work), `ended` (its history has the answer), or the code of a refusal, which stores
-- nothing: `service_unavailable` if another transaction has locked the connection. `stored` is true for work that this
-- very call stored. Work that outlives its callers has `detached_at` infinity, by its kind from its admission on, or
-- once it has begun and is queued again: it is never abandoned, however long nobody waits for it.
--
-- With `_sheds`, a request is `overloaded` when its party's queue is full (`queue_room_v1`), unless it takes the place
-- of queued work, and always when `_suspect_pool` is a pool from which no answer can be expected in time. A party's
-- admissions come one at a time. A request that may ask a model has `_token_quota`, `_token_quota_of_all`; refused as
-- `quota_exceeded`, its `left_ms` is the time to the end of the day.
--
-- Lock order, here and everywhere: connections by id, the party's admissions, usage by month, work by id.
create or replace function admit_v1(
  _kind text, _party uuid, _process uuid, _batch json, _inputs text[], _connections uuid[], _timeout_ms int,
  _window_s int, _sheds boolean, _suspect_pool text, _sandbox_units int, _price bigint,
  _token_quota bigint, _token_quota_of_all bigint)
returns table (place int, outcome text, id uuid, attempt int, left_ms float8, superseded uuid[], stored boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  item record;
  victims record;
  no_victims record;
  deadline timestamptz;
  app apps%rowtype;
  used usage%rowtype;
  used_before usage%rowtype;
  inactive boolean := false;
  locked boolean := false;
  held uuid[] := '{}';
  room float8;
  stuck boolean := false;
  used_up boolean := are_tokens_used_up_v1(_party, _token_quota, _token_quota_of_all);
  this_month text := month_of(now());
  last_month text := month_of(now() - live_work_max_age());
  place_kept timestamptz;
  admitted_places int[] := '{}';
  admitted_ids uuid[] := '{}';
  admitted_attempts int[] := '{}';
  admitted_since timestamptz[] := '{}';
begin
  perform need_week_v1();
  if cardinality(_connections) > 0 then
    held := array(
      select c.id from connections c where c.id = any (_connections) order by c.id for share skip locked);
  end if;
  perform lock_admissions_v1(_party);
  if _price is null then
    -- An erasure ends `active` under the lock on admissions, too. The account's row is not locked here, because changes
    -- of its memory lock it for long.
    inactive := not exists (select from accounts a where a.id = _party and a.active);
  end if;
  if _sheds then
    room := queue_room_v1(_kind, _party, _timeout_ms);
    stuck := _suspect_pool is not null and coalesce(stalled_ms_v1(_suspect_pool), 'infinity') > _timeout_ms / 2;
  end if;

  select '{}'::uuid[] as ids, 0 as units, 0 as paid_units, 0::numeric as paid_microcents, 0 as queued,
         null::timestamptz as queued_at
    into no_victims;

  for item in select * from look_up_v1(_party, _batch, held) loop
    place := item.place;
    outcome := case when inactive then 'not_authenticated' else item.refusal end;
    stored := false;
    id := item.id;
    attempt := 1;
    left_ms := _timeout_ms;
    superseded := '{}';

    -- Skipped for a replay: without a connection it writes nothing, so its commit does not wait for the disk.
    if not locked and (item.past_id is null or item.past_state = 'failed') then
      if _price is not null then
        -- The batch may supersede live work that reserved its unit last month.
        if last_month <> this_month then
          perform lock_usage_v1(_party, last_month);
        end if;
        used := open_usage_v1(_party, this_month);
        used_before := used;
        select * into strict app from apps a where a.id = _party;
      end if;
      perform from work w where w.id = any (item.touched) order by w.id for update;
      locked := true;
    end if;
    -- The look-up came before the lock: the work may have ended since.
    if item.live_id is not null and not exists (select from work w where w.id = item.live_id) then
      select * into item from look_up_v1(_party, json_build_array(_batch -> item.place), held);
    end if;

    -- Idempotency
    if outcome is not null then
      null;
    elsif item.live_id is not null then
      id := item.live_id;
      attempt := item.live_attempt;
      left_ms := extract(epoch from item.live_deadline - clock_timestamp()) * 1000;
      outcome := attach_v1(item, _process);
    elsif item.past_id is not null then
      id := item.past_id;
      attempt := item.past_attempt;
      outcome := case
        when item.past_admission = item.id then 'admitted'
        when item.past_expires_at <= now() then 'recovery_window_expired'
        when item.past_fingerprint <> item.fingerprint then 'idempotency_conflict'
        when item.past_state <> 'failed' then 'ended'
      end;
      if outcome is null then
        attempt := item.past_attempt + 1;
      end if;
    end if;

    if outcome is null and item.superseded <> '{}' and coalesce(app.supersede, true) then
      select * into victims from lock_victims_v1(item.line, item.revision, this_month);
    else
      victims := no_victims;
    end if;

    -- Stale context, load shedding, tokens, units. The places and units of superseded work count as free.
    if outcome is null then
      outcome := case
        when item.revision < item.known_revision
          or (item.revision = item.known_revision and item.text_hash <> item.known_text_hash)
        then 'context_revision_conflict'
        when stuck or (room <= 0 and victims.queued = 0) then 'overloaded'
        when used_up then 'quota_exceeded'
        when app.plan = 'sandbox'
         and used.reserved + used.settled - used.paid_reserved - used.paid_settled
             - (victims.units - victims.paid_units) >= _sandbox_units then 'sandbox_exhausted'
        when app.plan = 'paid' and (
          app.cap_cents = 0
          or used.paid_reserved_microcents + used.paid_settled_microcents - victims.paid_microcents + _price
             > app.cap_cents * 1000000) then 'monthly_cap_reached'
      end;
    end if;
    if outcome = 'quota_exceeded' then
      left_ms := extract(epoch from (utc_day() + 1) at time zone 'UTC' - now()) * 1000;
    end if;

    if outcome is null then
      outcome := 'admitted';
      stored := true;
      superseded := victims.ids;
      if cardinality(superseded) > 0 then
        used := end_superseded_v1(used, _party, superseded, _window_s);
      end if;
      room := room - 1 + victims.queued;
      -- Takes the queue place of the work that it supersedes, so that a person who goes on typing is answered in turn.
      place_kept := greatest(victims.queued_at, clock_timestamp() - make_interval(secs => _timeout_ms / 1000.0));
      admitted_places := admitted_places || place;
      admitted_ids := admitted_ids || id;
      admitted_attempts := admitted_attempts || attempt;
      admitted_since := admitted_since
        || case when victims.queued_at is null then clock_timestamp() else place_kept end;
      -- These stay null for a kind that costs no unit.
      used.reserved := used.reserved + 1;
      used.paid_reserved := used.paid_reserved + (app.plan = 'paid')::int;
      used.paid_reserved_microcents := used.paid_reserved_microcents
        + case when app.plan = 'paid' then _price else 0 end;
    end if;
    return next;
  end loop;

  if cardinality(admitted_places) > 0 then
    deadline := clock_timestamp() + make_interval(secs => _timeout_ms / 1000.0);
    insert into work (
      id, kind, party, key, queued_at, attempt, admission, fingerprint, line, revision, supersedable, connection_id,
      waiters, detached_at, cancel_on_disconnect, admitted_at, deadline_at, month, plan, price_microcents, facts, input)
    select a.id, _kind, _party, i.key, a.queued_at, a.attempt, i.id, i.fingerprint, i.line, i.revision, i.supersedable,
           i.connection_id, array[_process], case when i.outlives_callers then 'infinity'::timestamptz end,
           i.cancel_on_disconnect, clock_timestamp(), deadline,
           case when _price is not null then this_month end, app.plan, _price, i.facts, _inputs[a.place + 1]
      from unnest(admitted_places, admitted_ids, admitted_attempts, admitted_since)
           as a (place, id, attempt, queued_at)
      join json_to_recordset(_batch) as i (
        place int, id uuid, key uuid, fingerprint bytea, line uuid, revision bigint, supersedable boolean,
        connection_id uuid, cancel_on_disconnect boolean, outlives_callers boolean, facts text) on i.place = a.place;
    perform remember_drafts_v1(_batch, admitted_places);
    if _price is not null then
      perform store_usage_v1(used);
      perform announce_cap_v1(app, used_before, used, _price, _sandbox_units);
    end if;
  end if;
end $$;
