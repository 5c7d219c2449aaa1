-- The steps of `admit_v1`. Each is called once for a batch, unless its comment says otherwise.

-- Locks a party's admissions until the end of the transaction, so that they come one at a time.
create or replace function lock_admissions_v1(_party uuid) returns void
language sql as $$
  select pg_advisory_xact_lock(hashtextextended('admissions of ' || _party, 0))
$$;

-- Returns how many more pieces of a kind a party may queue; null: any number. None when the oldest has waited for half
-- of the deadline, or when a new piece would wait for a third of it, at the rate at which the party's work begins: half
-- of what it runs has begun within the median of the ages. While the party runs nothing, its rate is unknown: its work
-- may wait for a worker's next look. A queue whose oldest piece has waited for less than a tenth is never full, because
-- waits of bursts are short.
create or replace function queue_room_v1(_kind text, _party uuid, _timeout_ms int) returns float8
language plpgsql as $$
begin
  return (
    select case
             when q.waited_ms > _timeout_ms / 2 then 0
             when q.waited_ms > _timeout_ms / 10 and q.running > 0
             then _timeout_ms / 3 * q.running / 2 / greatest(q.median_ms, 1) - q.queued
           end
      from (
        select count(l.waited_ms) as queued, max(l.waited_ms) as waited_ms, count(l.running_ms) as running,
               percentile_disc(0.5) within group (order by l.running_ms) as median_ms
          from (
            select case when is_claimable(w) then ms_since(w.queued_at) end as waited_ms,
                   case when w.state = 'running' then ms_since(w.started_at) end as running_ms
              from work w
             where w.kind = _kind and w.party = _party
               and w.queued_at > now() - make_interval(secs => _timeout_ms / 1000.0)
             order by w.queued_at limit 10000) l) q);
end $$;

-- Returns the least time for which a living worker of a pool has had no free slot and claimed nothing, as of the latest
-- heartbeats; null without a worker. It grows while the provider hangs.
create or replace function stalled_ms_v1(_pool text) returns float8
language plpgsql as $$
begin
  return (
    select min((a.pools -> _pool ->> 'stalledMs')::float8)
      from processes a where is_alive(a.alive_until) and a.pools ? _pool);
end $$;

-- Returns the items of a batch, each with what is known about it: whether its connection refuses it or is not `_held`,
-- the live work or the latest end of the same request, and the latest revision of its line. `touched` has the live work
-- that any item of the batch may attach to or supersede. Called again for an item whose live work has ended before it
-- was locked.
create or replace function look_up_v1(_party uuid, _batch json, _held uuid[])
returns table (
  place int, id uuid, fingerprint bytea, line uuid, revision bigint, text_hash bytea,
  wait boolean, cancel_on_disconnect boolean, refusal text, live_id uuid,
  live_attempt int, live_admission uuid, live_attachment uuid, live_fingerprint bytea, live_waiters uuid[],
  live_deadline timestamptz, past_id uuid, past_attempt int, past_admission uuid, past_state text,
  past_fingerprint bytea, past_expires_at timestamptz, known_revision bigint, known_text_hash bytea,
  superseded uuid[], touched uuid[])
language plpgsql as $$
#variable_conflict use_column
declare
  this_week date := date_trunc('week', now() at time zone 'UTC')::date;
  -- A week's partition is kept until all of its rows are old enough.
  first_week date := this_week - 7 - tombstone_age();
begin
  return query
  with items as (
    select i.*, array(
             select v.id from work v
              where i.supersedable and v.line = i.line and v.supersedable and v.revision < i.revision) as superseded
      from json_to_recordset(_batch) as i (
        place int, id uuid, key uuid, fingerprint bytea, user_id text, line uuid, revision bigint, text_hash bytea,
        supersedable boolean, connection_id uuid, wait boolean, cancel_on_disconnect boolean)
  ), found as (
    select i.place, i.id, i.fingerprint, i.line, i.revision, i.text_hash, i.wait, i.cancel_on_disconnect,
           case
             when i.connection_id is null then null
             when c.id is null then 'not_found'
             when not c.id = any (_held) then 'service_unavailable'
             when c.user_id <> i.user_id then 'access_denied'
             when c.status <> 'connected' or c.ends_at <= now() then 'connection_revoked'
           end as refusal,
           w.id as live_id, w.attempt as live_attempt, w.admission as live_admission,
           w.attachment as live_attachment, w.fingerprint as live_fingerprint, w.waiters as live_waiters,
           w.deadline_at::timestamptz as live_deadline,
           h.id as past_id, h.attempt as past_attempt, h.admission as past_admission, h.state as past_state,
           h.fingerprint as past_fingerprint,
           -- An answer that was made with the memory of the connection's former account has expired.
           case when h.state in ('suggested', 'abstained') and h.connection_id = c.id
                 and (h.report::json ->> 'grantRevision')::int between 1 and c.account_grant - 1
                then now() else h.expires_at end::timestamptz as past_expires_at,
           r.revision as known_revision, r.text_hash as known_text_hash, i.superseded
      from items i
      -- `offset 0` keeps each of these a look-up by key: a join planned for an empty table would read all of a large
      -- one.
      left join lateral (
        select n.id, n.user_id, n.status, n.ends_at, n.account_grant from connections n
         where n.id = i.connection_id and n.app_id = _party offset 0) c on true
      left join lateral (select l.* from work l where l.key = i.key offset 0) w on true
      -- Orders by id and attempt, not by time: if the clock was set back, an earlier end may have the later time.
      left join lateral (
        select p.* from history p
         where w.id is null and p.key = i.key
           and p.ended_at > now() - tombstone_age() and p.ended_at < now() + clock_slack()
         order by p.id desc, p.attempt desc limit 1) h on true
      left join lateral (
        select e.revision, e.text_hash from drafts e
         where e.line = i.line and e.week > first_week and e.week <= this_week
           and e.updated_at > now() - tombstone_age()
         order by e.week desc limit 1) r on true
  )
  select f.*, (select array_agg(t.id) from found o cross join unnest(o.superseded || o.live_id) t (id))
    from found f
   order by f.place;
end $$;

-- Decides a request whose work is live and locked. A request that attaches adds this process to the waiters. Called
-- for each such item.
create or replace function attach_v1(_item record, _process uuid) returns text
language plpgsql as $$
declare
  outcome text := case
    when _item.live_admission = _item.id then 'admitted'
    when _item.live_fingerprint <> _item.fingerprint then 'idempotency_conflict'
    when _item.live_attachment = _item.id or _item.wait or not exists (
      select from processes a where a.id = any (_item.live_waiters) and is_alive(a.alive_until)) then 'attached'
    else 'request_in_flight'
  end;
begin
  if outcome = 'attached' then
    update work w
       set waiters = array_append(array_remove(w.waiters, _process), _process), attachment = _item.id,
           detached_at = case when w.detached_at = 'infinity' then w.detached_at end,
           cancel_on_disconnect = _item.cancel_on_disconnect
     where w.id = _item.live_id;
  end if;
  return outcome;
end $$;

-- Locks the work that a request supersedes: live work of its line with an older revision. Counts the units of this
-- month only, and as queued what `queue_room_v1` counts. Called for each item that supersedes something.
create or replace function lock_victims_v1(_line uuid, _revision bigint, _month text)
returns table (ids uuid[], units int, paid_units int, paid_microcents numeric, queued int, queued_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  select coalesce(array_agg(v.id), '{}'),
         (count(*) filter (where v.month = _month))::int,
         (count(*) filter (where v.month = _month and v.plan = 'paid'))::int,
         coalesce(sum(v.price_microcents) filter (where v.month = _month and v.plan = 'paid'), 0),
         (count(*) filter (where v.is_claimable))::int,
         (min(v.queued_at) filter (where v.state = 'queued'))::timestamptz
    from (
      select w.*, is_claimable(w) as is_claimable from work w
       where w.line = _line and w.supersedable and w.revision < _revision
       order by w.id for update) v;
end $$;

-- Ends superseded work, whose units `_used` still counts, and returns the usage without them. Called for each item
-- that supersedes something.
create or replace function end_superseded_v1(_used usage, _party uuid, _victims uuid[], _window_s int) returns usage
language plpgsql as $$
begin
  if _used.app_id is not null then
    perform store_usage_v1(_used);
  end if;
  perform complete_v1(_party, (
    select json_agg(json_build_object(
             'id', w.id, 'place', 0, 'month', w.month, 'guard', 'live', 'state', 'cancelled',
             'code', 'prediction_superseded', 'settle', false))
      from work w where w.id = any (_victims)), null, _window_s, 0);
  return lock_usage_v1(_party, _used.month);
end $$;

-- Stores the revision of each admitted item as the latest of its line.
create or replace function remember_drafts_v1(_batch json, _places int[]) returns void
language plpgsql as $$
begin
  insert into drafts as d (line, week, revision, text_hash, updated_at)
  select i.line, date_trunc('week', now() at time zone 'UTC')::date, i.revision, i.text_hash, now()
    from json_to_recordset(_batch) as i (place int, line uuid, revision bigint, text_hash bytea)
   where i.place = any (_places) and i.line is not null
   order by i.line
      on conflict (line, week) do update
     set revision = excluded.revision, text_hash = excluded.text_hash, updated_at = excluded.updated_at;
end $$;
