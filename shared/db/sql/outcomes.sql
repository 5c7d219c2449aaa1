-- The outcomes of those requests, of callers that still wait, that have ended; one that is in no table any more has a
-- key and nothing else. In one statement and so in one snapshot: no end, which moves a row, can be missed in between.
-- None of them was admitted before `live_work_max_age`, so older history need not be read. A request's latest end is
-- that of its latest attempt, whatever the clock said.
create or replace function outcomes_v2(_keys uuid[])
returns table (
  id uuid, kind text, party uuid, key uuid, month text, state text, code text, source text, attempt int, units smallint,
  expires_at timestamptz, queue_ms float8, facts text, report text, answer text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select h.id, h.kind, h.party, k.key, h.month, h.state, h.code, h.source, h.attempt, h.units,
         h.expires_at::timestamptz, (extract(epoch from h.started_at - h.admitted_at) * 1000)::float8, h.facts,
         h.report, a.answer
    from unnest(_keys) as k (key)
    left join lateral (
     select p.* from history p
      where p.key = k.key and p.ended_at > now() - live_work_max_age() and p.ended_at < now() + clock_slack()
      order by p.id desc, p.attempt desc limit 1) h on true
    left join lateral (select t.answer from answers t where t.id = h.id offset 0) a on true
   where not exists (select from work w where w.key = k.key offset 0);
end $$;
