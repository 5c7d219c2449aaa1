import { Migration } from '@mikro-orm/migrations';

/**
 * The two statements that move money, as functions over a batch: admission and end.
 *
 * Lock order, here and everywhere: usage rows by (app_id, month), then predictions by id. All times are the
 * database's. A changed function gets a new version number, so that old processes keep theirs during a deploy.
 */
export class Migration20261120000002 extends Migration {
  override name = 'Migration20261120000002';

  override up(): void {
    // Rows that change all the time get room to change in place, without new index entries.
    this.addSql(`alter table usage set (fillfactor = 50)`);
    this.addSql(`alter table processes set (fillfactor = 50)`);
    this.addSql(`alter table predictions set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)`);
    this.addSql(monthOf);
    this.addSql(windowEnd);
    this.addSql(admissionType);
    this.addSql(admit);
    this.addSql(endingType);
    this.addSql(end);
  }

  override down(): void {
    this.addSql(`drop function end_v1; drop type ending_v1; drop function admit_v1; drop type admission_v1`);
    this.addSql(`drop function window_end; drop function month_of`);
  }
}

const monthOf = `
create function month_of(moment timestamptz) returns text language sql stable as
$$ select to_char(moment at time zone 'UTC', 'YYYY-MM') $$`;

const windowEnd = `
create function window_end(window_s int) returns timestamptz language sql stable as
$$ select date_trunc('second', now() + make_interval(secs => window_s) + interval '999999 microseconds') $$`;

const admissionType = `
create type admission_v1 as (
  place int, id uuid, app_id uuid, request_id text, user_id text, session_id text, mode text, connection_id text,
  fingerprint bytea, draft_revision bigint, text_hash bytea, context_revision text, request text,
  wait boolean, cancel_on_disconnect boolean, overloaded boolean
)`;

/**
 * Decides a batch of requests one by one, in the order of their arrival within an app, and stores what it admits.
 * Outcomes: admitted (also when this very id was admitted before: the statement is safe to repeat), attached,
 * ended (the row has the answer), or the code of a refusal, which leaves nothing behind.
 */
const admit = `
create function admit_v1(batch json, process uuid, timeout_ms int, window_s int, sandbox_units int, price bigint)
returns table (
  place int, outcome text, prediction_id uuid, attempt int, left_ms float8, turn float8, superseded uuid[])
language plpgsql as $$
#variable_conflict use_column
declare
  items admission_v1[];
  item admission_v1;
  app apps%rowtype;
  used usage%rowtype;
  prior predictions%rowtype;
  latest prediction_sessions%rowtype;
  touched uuid[] := '{}';
  freed record;
  deadline timestamptz;
  next_turn bigint;
  -- Start-time fair queueing by a self-clocked virtual time (Golestani 1994): no app's newcomer goes before the turn
  -- that the workers have reached, and none's backlog before its own turns.
  reached bigint := (select coalesce(max(a.turn), 0) from processes a);
  this_month text := month_of(now());
  -- A prediction that still runs was admitted this month, or less than an hour ago in the last one.
  months text[] := array[month_of(now() - interval '1 hour'), month_of(now())];
begin
  select array_agg(i order by i.app_id, i.place) into items from json_populate_recordset(null::admission_v1, batch) i;

  insert into usage (app_id, month)
  select distinct i.app_id, this_month from unnest(items) i
   where not exists (select from usage u where u.app_id = i.app_id and u.month = this_month)
   order by 1
  on conflict do nothing;
  perform from usage u
    where u.app_id in (select i.app_id from unnest(items) i) and u.month = any (months)
    order by u.app_id, u.month for update of u;

  foreach item in array items loop
    touched := touched || array(
      select p.id from predictions p where p.app_id = item.app_id and p.request_id = item.request_id);
    if item.mode = 'complete_draft' then
      touched := touched || array(
        select p.id from predictions p
         where p.app_id = item.app_id and p.user_id = item.user_id and p.session_id = item.session_id
           and p.state in ('queued', 'running') and p.mode = 'complete_draft' and p.draft_revision < item.draft_revision);
    end if;
  end loop;
  if cardinality(touched) > 0 then
    perform from predictions p where p.id = any (touched) order by p.id for update;
  end if;

  foreach item in array items loop
    place := item.place;
    outcome := null;
    prediction_id := item.id;
    attempt := 1;
    left_ms := timeout_ms;
    turn := 0;
    superseded := '{}';

    -- Idempotency
    select * into prior from predictions p where p.app_id = item.app_id and p.request_id = item.request_id;
    if found then
      prediction_id := prior.id;
      attempt := prior.attempt;
      turn := prior.turn;
      left_ms := extract(epoch from prior.deadline_at - clock_timestamp()) * 1000;
      outcome := case
        when prior.id = item.id then 'admitted'
        when prior.expires_at <= now() then 'recovery_window_expired'
        when prior.fingerprint <> item.fingerprint then 'idempotency_conflict'
        when prior.state in ('suggested', 'abstained', 'cancelled') then 'ended'
        when prior.state = 'failed' then 'again'
        when item.wait or not exists (
          select from processes a where a.id = any (prior.waiters) and a.alive_until > now()) then 'attached'
        else 'request_in_flight'
      end;
      if outcome = 'attached' then
        update predictions p
           set waiters = array_append(array_remove(p.waiters, process), process),
               detached_at = null, cancel_on_disconnect = item.cancel_on_disconnect
         where p.id = prior.id;
      end if;
      if outcome <> 'again' then
        return next;
        continue;
      end if;
    end if;

    if item.app_id is distinct from app.id then
      select * into strict app from apps a where a.id = item.app_id;
    end if;

    -- Stale context
    select * into latest from prediction_sessions s
     where s.app_id = item.app_id and s.user_id = item.user_id and s.session_id = item.session_id;
    if found and latest.updated_at > now() - interval '35 days' and (
      item.draft_revision < latest.revision
      or (item.draft_revision = latest.revision and item.text_hash <> latest.text_hash))
    then
      outcome := 'context_revision_conflict';
      return next;
      continue;
    end if;

    -- Load shedding
    if item.overloaded then
      outcome := 'overloaded';
      return next;
      continue;
    end if;

    -- Whom it supersedes, whose units are free for it
    select coalesce(array_agg(p.id), '{}') as ids,
           count(*) filter (where p.month = this_month) as units,
           count(*) filter (where p.month = this_month and p.plan = 'paid') as paid_units,
           coalesce(sum(p.price_microcents) filter (where p.month = this_month and p.plan = 'paid'), 0) as paid_microcents
      into freed
      from predictions p
     where item.mode = 'complete_draft' and app.supersede
       and p.app_id = item.app_id and p.user_id = item.user_id and p.session_id = item.session_id
       and p.state in ('queued', 'running') and p.mode = 'complete_draft'
       and p.draft_revision < item.draft_revision and p.month = any (months);

    -- Units
    select * into strict used from usage u where u.app_id = item.app_id and u.month = this_month;
    outcome := case
      when app.plan = 'sandbox'
       and used.reserved + used.settled - used.paid_reserved - used.paid_settled
           - (freed.units - freed.paid_units) >= sandbox_units then 'sandbox_exhausted'
      when app.plan = 'paid' and (
        app.cap_cents = 0
        or used.paid_reserved_microcents + used.paid_settled_microcents - freed.paid_microcents + price
           > app.cap_cents * 1000000) then 'monthly_cap_reached'
    end;
    if outcome is not null then
      return next;
      continue;
    end if;

    -- Admitted
    next_turn := greatest(used.turn, reached) + 1;
    turn := next_turn;
    superseded := freed.ids;
    if cardinality(superseded) > 0 then
      update predictions p
         set state = 'cancelled', code = 'prediction_superseded', ended_at = now(), expires_at = window_end(window_s)
       where p.id = any (superseded);
      update usage u
         set reserved = u.reserved - s.units, paid_reserved = u.paid_reserved - s.paid_units,
             paid_reserved_microcents = u.paid_reserved_microcents - s.paid_microcents
        from (select p.month, count(*) as units, count(*) filter (where p.plan = 'paid') as paid_units,
                     coalesce(sum(p.price_microcents) filter (where p.plan = 'paid'), 0) as paid_microcents
                from predictions p where p.id = any (superseded) group by p.month) s
       where u.app_id = item.app_id and u.month = s.month;
    end if;

    update usage u
       set reserved = u.reserved + 1, turn = next_turn,
           paid_reserved = u.paid_reserved + (app.plan = 'paid')::int,
           paid_reserved_microcents = u.paid_reserved_microcents + case when app.plan = 'paid' then price else 0 end
     where u.app_id = item.app_id and u.month = this_month;

    insert into prediction_sessions as s (app_id, user_id, session_id, revision, text_hash, updated_at)
    values (item.app_id, item.user_id, item.session_id, item.draft_revision, item.text_hash, now())
    on conflict (app_id, user_id, session_id) do update
       set revision = excluded.revision, text_hash = excluded.text_hash, updated_at = excluded.updated_at;

    outcome := 'admitted';
    deadline := clock_timestamp() + make_interval(secs => timeout_ms / 1000.0);
    if prior.id is not null then
      attempt := prior.attempt + 1;
      left_ms := timeout_ms;
      update predictions p
         set state = 'queued', code = null, error_source = null, attempt = prior.attempt + 1, worker = null,
             waiters = array[process], detached_at = null, cancel_on_disconnect = item.cancel_on_disconnect, turn = next_turn,
             admitted_at = now(), deadline_at = deadline, requeue_at = now() + interval '1500 milliseconds',
             started_at = null, ended_at = null, expires_at = null,
             month = this_month, plan = app.plan, price_microcents = price, provider_ms = null
       where p.id = prior.id;
    else
      insert into predictions (
        id, app_id, request_id, user_id, session_id, mode, connection_id, fingerprint, draft_revision,
        context_revision, state, waiters, cancel_on_disconnect, turn, admitted_at, deadline_at, requeue_at,
        month, plan, price_microcents)
      values (
        item.id, item.app_id, item.request_id, item.user_id, item.session_id, item.mode, item.connection_id,
        item.fingerprint, item.draft_revision, item.context_revision, 'queued', array[process],
        item.cancel_on_disconnect, next_turn, now(), deadline, now() + interval '1500 milliseconds',
        this_month, app.plan, price);
      insert into prediction_texts (prediction_id, request) values (item.id, item.request);
    end if;
    return next;
  end loop;
end $$`;

const endingType = `
create type ending_v1 as (
  place int, id uuid, app_id uuid, month text, guard text, attempt int, worker uuid,
  state text, code text, source text, answer text, truncated boolean, provider_ms int
)`;

/**
 * Ends a batch of predictions and settles or returns their units, in one transaction. Each ending names what must
 * still be true of its row; one whose guard fails changes nothing. Returns the places of those that took effect.
 */
const end = `
create function end_v1(batch json, window_s int) returns table (place int)
language plpgsql as $$
#variable_conflict use_column
declare
  items ending_v1[];
  living uuid[] := array(select a.id from processes a where a.alive_until > now());
begin
  select array_agg(i) into items from json_populate_recordset(null::ending_v1, batch) i;
  perform from usage u
    where (u.app_id, u.month) in (select i.app_id, i.month from unnest(items) i)
    order by u.app_id, u.month for update of u;
  perform from predictions p where p.id in (select i.id from unnest(items) i) order by p.id for update of p;
  return query
  with ended as (
    update predictions p
       set state = i.state, code = i.code, error_source = i.source, ended_at = now(),
           expires_at = window_end(window_s), units = (i.state = 'suggested')::int,
           context_truncated = coalesce(i.truncated, false), provider_ms = i.provider_ms
      from unnest(items) i
     where p.id = i.id and p.month = i.month and p.state in ('queued', 'running')
       and case i.guard
             when 'attempt' then p.state = 'running' and p.attempt = i.attempt and p.worker = i.worker
             when 'queued' then p.state = 'queued' and p.attempt = i.attempt
             when 'live' then true
             when 'overdue' then p.deadline_at <= now()
             when 'abandoned' then p.state = 'queued' and not p.waiters && living
             when 'detached' then not p.waiters && living
             else false
           end
    returning p.id, p.app_id, p.month, p.plan, p.price_microcents, p.units, i.answer, i.place
  ), answered as (
    update prediction_texts t set answer = e.answer from ended e where t.prediction_id = e.id and e.answer is not null
  ), booked as (
    update usage u
       set reserved = u.reserved - s.ended, settled = u.settled + s.units,
           paid_reserved = u.paid_reserved - s.paid_ended, paid_settled = u.paid_settled + s.paid_units,
           paid_reserved_microcents = u.paid_reserved_microcents - s.paid_ended_microcents,
           paid_settled_microcents = u.paid_settled_microcents + s.paid_units_microcents
      from (
        select e.app_id, e.month, count(*) as ended, sum(e.units) as units,
               count(*) filter (where e.plan = 'paid') as paid_ended,
               coalesce(sum(e.units) filter (where e.plan = 'paid'), 0) as paid_units,
               coalesce(sum(e.price_microcents) filter (where e.plan = 'paid'), 0) as paid_ended_microcents,
               coalesce(sum(e.price_microcents * e.units) filter (where e.plan = 'paid'), 0) as paid_units_microcents
          from ended e group by e.app_id, e.month) s
     where u.app_id = s.app_id and u.month = s.month
  )
  select e.place from ended e;
end $$`;
