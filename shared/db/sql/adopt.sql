-- Takes over a prediction of the heart's first edition: live work is queued here as a new attempt, ended work gets its
-- history. Its old row stays for the processes that still read it, with the month `moved`, which no usage row has, so
-- that ending it there books nothing. False when there is none.
create or replace function adopt_v1(_app uuid, _request_id text, _process uuid, _kinds text[]) returns boolean
language plpgsql
as $$
declare
  old predictions%rowtype;
  texts prediction_texts%rowtype;
  key uuid;
  facts text;
begin
  -- Requests of other kinds may have the same ids.
  if not 'predict' = any (_kinds)
    or not exists (select from predictions p where p.app_id = _app and p.request_id = _request_id)
  then
    return false;
  end if;
  insert into flows (kind, party, touched_at) values ('predict', _app, now())
      on conflict (kind, party) do update set touched_at = excluded.touched_at;
  perform lock_usage_v1(_app, p.month) from predictions p where p.app_id = _app and p.request_id = _request_id;
  select * into old from predictions p where p.app_id = _app and p.request_id = _request_id for update;
  if not found or old.month = 'moved' or old.ended_at < now() - tombstone_age() then
    return false;
  end if;
  key := request_key_v1('predict', old.app_id, old.request_id);
  select * into texts from prediction_texts t where t.prediction_id = old.id;
  facts := json_build_object(
    'requestId', old.request_id, 'userId', old.user_id, 'sessionId', old.session_id, 'mode', old.mode,
    'connectionId', old.connection_id, 'draftRevision', old.draft_revision, 'contextRevision', old.context_revision,
    'minConfidence', (select a.min_confidence from apps a where a.id = old.app_id))::text;

  if old.state in ('queued', 'running') then
    insert into work (
      id, kind, party, key, priority, attempt, admission, fingerprint, line, revision, supersedable, connection_id,
      waiters, detached_at, cancel_on_disconnect, admitted_at, deadline_at, month, plan, price_microcents, facts, input)
    values (
      old.id, 'predict', old.app_id, key, virtual_time_v1(_kinds, 0) + 1, old.attempt + 1, old.id, old.fingerprint,
      request_key_v1('draft ' || old.user_id, old.app_id, old.session_id), old.draft_revision,
      old.mode = 'complete_draft', old.connection_id::uuid, old.waiters, old.detached_at, old.cancel_on_disconnect,
      old.admitted_at, old.deadline_at, old.month, old.plan, old.price_microcents, facts, texts.request);
    -- As if this process ran it: one that is alive, so that no old process takes it over.
    update predictions p set state = 'running', attempt = old.attempt + 1, month = 'moved',
           worker = coalesce(_process, (
             select a.id from processes a where a.alive_until > now() order by a.alive_until desc limit 1))
     where p.id = old.id;
  else
    insert into history (
      id, kind, party, key, fingerprint, state, code, source, attempt, admission, connection_id, admitted_at,
      started_at, ended_at, expires_at, month, plan, price_microcents, units, facts, report)
    values (
      old.id, 'predict', old.app_id, key, old.fingerprint, old.state, old.code, old.error_source, old.attempt, old.id,
      old.connection_id::uuid, old.admitted_at, old.started_at, old.ended_at, old.expires_at, old.month, old.plan,
      old.price_microcents, old.units, facts,
      json_build_object(
        'profileRevision', old.profile_revision, 'grantRevision', old.grant_revision,
        'contextTruncated', old.context_truncated, 'providerMs', old.provider_ms)::text);
    insert into answers (id, answer, expires_at)
    select old.id, texts.answer, old.expires_at where texts.answer is not null and not old.erased;
    update predictions p set month = 'moved' where p.id = old.id;
  end if;
  return true;
end $$;

-- Shows the end of adopted work to the processes that read the old row.
create or replace function mirror_end_v1(_batch json, _answers text[], _places int[], _window_s int) returns void
language plpgsql as $$
declare
  item record;
begin
  for item in
    select i.* from json_to_recordset(_batch) as i (
      place int, id uuid, state text, code text, source text, settle boolean, report text)
     where i.place = any (_places)
     order by i.id
  loop
    update predictions p
       set state = item.state, code = item.code, error_source = item.source, ended_at = now(),
           expires_at = window_end(_window_s), units = coalesce(item.settle, false)::int,
           profile_revision = coalesce(item.report::json ->> 'profileRevision', 'none'),
           grant_revision = coalesce((item.report::json ->> 'grantRevision')::int, 0),
           context_truncated = coalesce((item.report::json ->> 'contextTruncated')::boolean, false)
     where p.id = item.id and p.month = 'moved';
    if _answers[item.place + 1] is not null then
      update prediction_texts t set answer = _answers[item.place + 1] where t.prediction_id = item.id;
    end if;
  end loop;
end $$;

-- Adopts what waits in the tables of the first edition although none of its processes takes it any more.
--
-- `state in ('queued', 'running')` repeats the predicate of the partial index `predictions_live` word for word, because
-- only then does the planner use the index. For the same reason the first edition's own functions carry it beside
-- conditions that imply it. This edition needs no such index: its live work is a table of its own.
create or replace function adopt_stranded_v1(_process uuid, _kinds text[]) returns int
language plpgsql
as $$
declare
  stranded record;
  adopted int := 0;
begin
  for stranded in
    select p.app_id, p.request_id from predictions p
     where p.state in ('queued', 'running') and p.month <> 'moved' and p.deadline_at > now()
       and (case p.state
              when 'queued' then p.admitted_at < now() - interval '2 seconds'
              else not exists (select from processes a where a.id = p.worker and a.alive_until > now()) end)
     order by p.app_id limit 100
  loop
    adopted := adopted + adopt_v1(stranded.app_id, stranded.request_id, _process, _kinds)::int;
  end loop;
  return adopted;
end $$;
