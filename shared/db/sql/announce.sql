-- Webhooks hear of an event by a row of `deliveries`, which the transaction that causes the event adds.

-- Adds the events of a list to the outbox: a delivery for each webhook of the account or app that wants the event. With
-- a `key`, a webhook gets it once. Ids begin with the time, as all ids do (RFC 9562, version 7).
create or replace function announce_v1(_events json) returns void
language plpgsql as $$
begin
  insert into deliveries (id, webhook_id, event, data, key, created_at, tried_from, next_attempt_at)
  select encode(
           set_byte(
             substr(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint), 3) || substr(r.bytes, 7), 6,
             (get_byte(r.bytes, 6) & 15) | 112),
           'hex')::uuid,
         w.id, e.event, e.data, e.key, now(), now(), greatest(now(), w.quiet_until)
    from json_to_recordset(_events) as e (account uuid, app uuid, event text, data jsonb, key text)
   cross join lateral (
     -- One that rests without a failure has mailed something lately: what follows waits for the next mail.
     select o.id, o.events, case when o.failures = 0 then o.rests_until end as quiet_until
       from webhooks o where o.account_id = e.account and o.disabled is null
      union all
     select o.id, o.events, null from webhooks o where o.app_id = e.app and o.disabled is null) w
   cross join lateral (select uuid_send(gen_random_uuid()) as bytes where w.id is not null) r
   where e.event = any (w.events)
  on conflict (webhook_id, key) do nothing;
end $$;

-- Announces that an app's units of a month, reserved ones included, have reached 80 % of its cap, or that no further
-- unit fits. On the sandbox plan its units are the cap.
create or replace function announce_cap_v1(
  _app apps, _before usage, _after usage, _price bigint, _sandbox_units int) returns void
language plpgsql as $$
declare
  is_paid boolean := _app.plan = 'paid';
  unit numeric := case when is_paid then _price else 1 end;
  cap numeric := case when is_paid then _app.cap_cents * 1000000::numeric else _sandbox_units end;
  old numeric := case when is_paid then _before.paid_reserved_microcents + _before.paid_settled_microcents
    else _before.reserved + _before.settled - _before.paid_reserved - _before.paid_settled end;
  new numeric := case when is_paid then _after.paid_reserved_microcents + _after.paid_settled_microcents
    else _after.reserved + _after.settled - _after.paid_reserved - _after.paid_settled end;
begin
  if old * 100 < cap * 80 and new * 100 >= cap * 80 then
    perform announce_v1(cap_event_v1(_app, _after.month, 80, cap));
  end if;
  if old + unit <= cap and new + unit > cap then
    perform announce_v1(cap_event_v1(_app, _after.month, 100, cap));
  end if;
end $$;

create or replace function cap_event_v1(_app apps, _month text, _percent int, _cap numeric) returns json
language sql as $$
  select json_build_array(json_build_object(
    'app', _app.id, 'event', 'cap.reached', 'key', concat_ws(' ', 'cap', _month, _percent, _app.plan, _cap),
    'data', json_build_object('app_id', _app.id, 'plan', _app.plan, 'month', _month, 'percent', _percent)))
$$;
