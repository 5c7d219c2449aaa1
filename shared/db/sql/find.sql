-- Finds requests by their keys, each as it is now: live, or as its latest attempt ended, at most `_age` ago. Reads one
-- snapshot: otherwise it could miss a request that ends meanwhile, and so moves from `work` to `history`. A key without
-- a request gets a row without an id.
--
-- `_waited` is true for callers that have waited since the admission; live requests are then left out. Without it, an
-- answer made under a grant in `erasing_grants` counts as erased.
--
-- The latest end is the one with the highest id and attempt, whatever the clock said. `offset 0` keeps each look-up
-- a look-up by key.
create or replace function find_v1(_keys uuid[], _age interval, _waited boolean)
returns table (
  key uuid, id uuid, kind text, party uuid, month text, state text, code text, source text, attempt int, units smallint,
  admitted_at timestamptz, ended_at timestamptz, expires_at timestamptz, queue_ms float8, facts text, progress text,
  report text, answer text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select k.key, coalesce(w.id, h.id), coalesce(w.kind, h.kind), coalesce(w.party, h.party), coalesce(w.month, h.month),
         coalesce(w.state, h.state), h.code, h.source, coalesce(w.attempt, h.attempt), coalesce(h.units, 0::smallint),
         coalesce(w.admitted_at, h.admitted_at)::timestamptz, h.ended_at::timestamptz, h.expires_at::timestamptz,
         (extract(epoch from h.started_at - h.admitted_at) * 1000)::float8, coalesce(w.facts, h.facts), w.progress,
         h.report, a.answer
    from unnest(_keys) as k (key)
    left join lateral (select l.* from work l where l.key = k.key offset 0) w on true
    left join lateral (
      select p.* from history p
       where w.id is null and p.key = k.key and p.ended_at > now() - _age and p.ended_at < now() + clock_slack()
       order by p.id desc, p.attempt desc limit 1) h on true
    left join lateral (
      select t.answer from answers t
       where t.id = h.id and (_waited or not exists (
         select from erasing_grants g
          where g.connection_id = h.connection_id and h.admitted_at <= g.ended_at
            and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int))) offset 0) a on true
   where w.id is null or not _waited;
end $$;
