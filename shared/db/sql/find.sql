-- A request as it is now: live, or as its latest attempt ended. Two snapshots, in this order: work that ends in between
-- is found in its history. Of a prediction that an erasure has not come to yet, the answer is gone already.
create or replace function find_v1(_key uuid)
returns table (
  id uuid, kind text, party uuid, key uuid, month text, state text, code text, source text, attempt int, units smallint,
  expires_at timestamptz, queue_ms float8, facts text, report text, answer text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select w.id, w.kind, w.party, w.key, w.month, w.state, null, null, w.attempt, 0::smallint, null::timestamptz,
         null::float8, w.facts, null, null
    from work w where w.key = _key;
  if found then
    return;
  end if;
  return query
  select h.id, h.kind, h.party, h.key, h.month, h.state, h.code, h.source, h.attempt, h.units,
         h.expires_at::timestamptz, (extract(epoch from h.started_at - h.admitted_at) * 1000)::float8, h.facts,
         h.report, a.answer
    from history h
    left join lateral (
      select t.answer from answers t
       where t.id = h.id and not exists (
         select from erasing_grants g
          where g.connection_id = h.connection_id and h.admitted_at <= g.ended_at
            and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int)) offset 0) a on true
   where h.key = _key
     and h.ended_at > now() - tombstone_age() and h.ended_at < now() + clock_slack()
   order by h.id desc, h.attempt desc limit 1;
end $$;
