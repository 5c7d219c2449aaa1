-- Returns raw rows since `_since`: the `_most` latest and those about the question, as many as fit into `_room` bytes.
-- Leaves out predictions: even accepted, they are not the person's own words, and must not teach the next prediction.
create or replace function context_raw_v1(_account uuid, _query text, _since timestamptz, _most int, _room int)
returns json language plpgsql stable as $$
declare
  _predicted int := (select count(*) from (
    select from raw_memories r
     where r.account_id = _account and r.occurred_at >= _since
       and r.origin in ('accepted_prediction', 'edited_prediction') limit context_count_max()) p);
  _found int := (select count(*) from (
    select from raw_memories r where r.account_id = _account and r.occurred_at >= _since
     limit context_count_max() + _predicted) r);
  _rows json;
  _whole boolean;
  _about uuid[];
  _relevance real[];
  _latest uuid[] := array(
    select r.id from raw_memories r
     where r.account_id = _account and r.occurred_at >= _since
       and r.origin not in ('accepted_prediction', 'edited_prediction')
     order by r.occurred_at desc, r.id desc limit _most);
  -- `_found` may include more predictions than `_predicted` counted. If `_latest` is not full, it has all matches.
  _matched int := case when cardinality(_latest) < _most then cardinality(_latest) else _found - _predicted end;
begin
  select array_agg(a.id order by a.relevance desc), array_agg(a.relevance order by a.relevance desc)
    into _about, _relevance
    from raw_about_v1(_account, _since, _query, _matched, null) a;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_latest, _about, _relevance) p
                   cross join lateral (
                     select r.id, r.content, r.kind, r.role, r.origin, r.agent, r.session_id as "sessionId", r.source,
                            r.event_id as "eventId", r.occurred_at as "occurredAt", r.tags, r.metadata,
                            r.promoted_at as "promotedAt", r.created_at as "createdAt",
                            p.relevance
                       from raw_memories r where r.id = p.id
                      offset 0) s) o) f;
  return json_build_object(
    'matched', _matched, 'predicted', _predicted, 'rows', _rows, 'whole', _whole);
end $$;
