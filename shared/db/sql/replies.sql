-- Triggers keep the row of a predicted reply in step with its work, in the transaction that admits or ends the work. So
-- a prediction whose call failed is never `auto`. A worker that has lost the work cannot complete it, so its late
-- answer does not change the prediction. The replies of a batch are parts of the batch's work.

-- Admits a part only while its batch is live: while the admission waits, the batch may end and its account be erased.
-- The lock lets others claim and update the batch, but not end it before its parts are visible.
create or replace function batch_is_live() returns trigger language plpgsql as $$
begin
  perform from work w where w.id = (new.facts::json ->> 'batch')::uuid for key share;
  return case when found then new end;
end $$;

-- Creates the row of an admitted reply. A request that failed and runs again keeps its row. An account that is disabled
-- or being erased gets none.
create or replace function reply_admitted() returns trigger language plpgsql as $$
declare
  asked json := new.input;
begin
  insert into replies (id, account_id, agent, agent_input, session_id, k, threshold, model, created_at)
  select new.id, new.party, asked ->> 'agent', asked ->> 'agent_input', asked ->> 'session_id', (asked ->> 'k')::int,
         (asked ->> 'threshold')::float8, coalesce(asked ->> 'model', ''), new.admitted_at
   where exists (select from accounts a where a.id = new.party and a.active)
  on conflict (id) do update set error = null;
  return null;
end $$;

-- Checks whether the profile and all memory rows that a prediction was made from still exist, with their texts. Locks
-- them: it waits for a deletion that has begun, and a deletion that begins later finds the prediction.
create or replace function is_left(account uuid, context jsonb) returns boolean language sql volatile as $$
  select not exists (
    select from (values ('fact_ids'), ('episode_ids'), ('raw_ids'), ('example_ids')) t (tier)
     cross join lateral jsonb_array_elements_text(context -> tier) used (id)
     where not case tier
       when 'fact_ids' then exists (
         select from facts f where f.id = used.id::uuid and f.account_id = account and f.stale_at is null for share)
       when 'episode_ids' then exists (
         select from episodes e where e.id = used.id::uuid and e.account_id = account and e.stale_at is null for share)
       else exists (select from raw_memories r where r.id = used.id::uuid and r.account_id = account for share) end)
  and ((context ->> 'profile')::boolean is not true
       or exists (select from profiles p where p.account_id = account for share))
$$;

-- Moves the answer, which is the report of succeeded work, to the columns of the reply: texts do not stay in the
-- history. A decision that the person made after a failed attempt outlives the repetition. If memory that the answer
-- was made from has been deleted meanwhile, the reply gets none of its texts.
create or replace function reply_ended() returns trigger language plpgsql as $$
declare
  left_whole boolean;
begin
  if new.state <> 'succeeded' then
    update replies set error = new.code where id = new.id;
    return new;
  end if;
  left_whole := is_left(new.party, new.report::jsonb -> 'context');
  update replies r
     set status = case when r.status = 'pending' then a.status else r.status end, error = null, response = a.response,
         confidence = a.confidence, reasoning = a.reasoning, candidates = a.candidates, features = a.features,
         model = a.model, latency_ms = a.latency_ms, input_tokens = a.input_tokens, output_tokens = a.output_tokens,
         context = a.context, acted_at = case when a.status = 'auto' then clock_timestamp() end
    from json_to_record(new.report::json) as a (
      status text, response text, confidence float8, reasoning text, candidates jsonb, features jsonb, model text,
      latency_ms int, input_tokens int, output_tokens int, context jsonb)
   where r.id = new.id;
  if not left_whole then
    update replies
       set status = case when status = 'auto' then 'escalated' else status end, acted_at = null, response = '',
           confidence = 0, candidates = '[]', features = null,
           reasoning = 'Memory that it was made from was deleted meanwhile.'
     where id = new.id;
  end if;
  new.report := '{}';
  return new;
end $$;

-- Creates the triggers only if they are missing, because creating one locks its table.
do $$ begin
  if exists (select from pg_trigger where tgname = 'reply_ended' and tgrelid = 'history'::regclass) then
    return;
  end if;
  create trigger batch_is_live before insert on work
    for each row when (new.kind = 'batch_reply') execute function batch_is_live();
  create trigger reply_admitted after insert on work
    for each row when (new.kind in ('reply', 'batch_reply')) execute function reply_admitted();
  create trigger reply_ended before insert on history
    for each row when (new.kind in ('reply', 'batch_reply')) execute function reply_ended();
end $$;
