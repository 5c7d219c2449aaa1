-- Returns the latest answer of an app's line, while it is kept, with its facts and report, as JSON; null if there is
-- none. The answer of a model that had no suggestion is empty. An answer made under a grant in `erasing_grants` counts
-- as erased. Volatile, to see what the same statement has just stored.
create or replace function latest_suggestion_v1(_line uuid, _party uuid)
returns text
language plpgsql
as $$
begin
  return (
    select json_build_object(
             'id', a.id, 'answer', a.answer, 'facts', h.facts::json, 'report', h.report::json,
             'fingerprintKey', (select encode(p.fingerprint_key, 'base64') from apps p where p.id = h.party),
             'dismissed', exists (
               select from prediction_events e
                where e.prediction_id in (a.id, (h.report::json ->> 'continues')::uuid) and e.kind = 'dismissed'),
             'accepted', exists (
               select from prediction_events e where e.prediction_id = a.id and e.kind = 'accepted'))::text
      from (select l.* from answers l where l.line = _line order by l.id desc limit 1) a
     cross join lateral (
       select p.* from history p
        where p.key = a.key and p.id = a.id and p.state in ('suggested', 'abstained')
          and p.ended_at > now() - tombstone_age()
        order by p.attempt desc limit 1) h
     where a.expires_at > now() and h.party = _party
       and not exists (
         select from erasing_grants g
          where g.connection_id = h.connection_id and h.admitted_at <= g.ended_at
            and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int)));
end $$;

-- Returns what a prediction starts from, as JSON: the latest answer of its line, how many of the person's latest
-- verdicts on suggestions took one (accepted or edited it) or dismissed one, and the dismissed answers of the message
-- that the person is typing, which session and context revision identify.
create or replace function recall_prediction_v1(_line uuid, _party uuid, _facts text) returns text
language plpgsql as $$
declare
  kinds text[];
  dismissed uuid[];
  refused json := '[]';
begin
  select array_agg(v.kind),
         (array_agg(v.prediction_id order by v.recorded_at desc) filter (where v.kind = 'dismissed'))[:20]
    into kinds, dismissed
    from (
      select e.kind, e.prediction_id, e.recorded_at
        from (select l.kind, l.prediction_id, l.suggested, l.recorded_at from prediction_events l
               where l.app_id = _party and l.user_id = _facts::json ->> 'userId'
               order by l.recorded_at desc limit 2000) e
       where e.kind in ('accepted', 'edited', 'dismissed') and e.suggested is not false
       order by e.recorded_at desc limit 200) v;
  -- A query of its own: even unread, it would be planned and prepared for each prediction.
  if dismissed is not null then
    refused := (
      select coalesce(json_agg(a.answer), '[]')
        from answers a join history h on h.key = a.key and h.id = a.id
       where a.id = any (dismissed) and a.line = _line
         and h.facts::json ->> 'contextRevision' = _facts::json ->> 'contextRevision');
  end if;
  return json_build_object(
    'latest', latest_suggestion_v1(_line, _party)::json,
    'dismissed', coalesce(cardinality(array_positions(kinds, 'dismissed')), 0),
    'taken', coalesce(cardinality(array_remove(kinds, 'dismissed')), 0),
    'refused', refused);
end $$;
