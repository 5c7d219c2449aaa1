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
