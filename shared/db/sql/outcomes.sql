-- What has become of requests that somebody waits for: those that have ended, within the longest deadline.
create or replace function outcomes_v1(_keys uuid[])
returns table (
  id uuid, kind text, party uuid, key uuid, month text, state text, code text, source text, attempt int, units smallint,
  expires_at timestamptz, queue_ms float8, facts text, report text, answer text)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select h.id, h.kind, h.party, h.key, h.month, h.state, h.code, h.source, h.attempt, h.units, h.expires_at::timestamptz,
         (extract(epoch from h.started_at - h.admitted_at) * 1000)::float8, h.facts, h.report, a.answer
    from unnest(_keys) as k (key)
   cross join lateral (
     select p.* from history p
      where p.key = k.key and p.ended_at > now() - interval '1 hour' and p.ended_at < now() + interval '1 minute'
      order by p.ended_at desc limit 1) h
    left join lateral (select t.answer from answers t where t.id = h.id offset 0) a on true
   where not exists (select from work w where w.key = k.key);
end $$;
