-- Raw rows since then: all, or the latest and those about the question, as far as they fit into `_room` bytes. A
-- prediction is not the person's words, though the person accepted it: it must not teach the next one.
create or replace function context_raw_v2(_account uuid, _query text, _since timestamptz, _most int, _room int)
returns json language plpgsql stable as $$
declare
  _words jsonb := (select coalesce(jsonb_agg(w), '[]') from query_words_v1(_query, 'raw_memories_search') w);
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
  _latest uuid[] := array(
    select r.id from raw_memories r
     where r.account_id = _account and r.occurred_at >= _since
       and r.origin not in ('accepted_prediction', 'edited_prediction')
     order by r.occurred_at desc, r.id desc limit _most);
begin
  -- Else these are all.
  if cardinality(_latest) = _most then
    _about := array(
      select h.id
        from jsonb_to_recordset(_words) w (share real, lookup tsquery)
       cross join lateral (
         select r.id
           from (select r.id, r.occurred_at, r.origin from raw_memories r
                  where r.account_id::text = _account::text
                    and to_tsvector('simple', search_text(r.content)) @@ w.lookup
                 offset 0) r
          where r.occurred_at >= _since and r.origin not in ('accepted_prediction', 'edited_prediction')
          limit context_found_max()) h
       group by h.id order by sum(-ln(w.share + 0.0001)) desc, h.id desc limit context_hits_max());
  end if;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_latest, _about) p
                   cross join lateral (
                     select r.id, r.content, r.kind, r.role, r.origin, r.agent, r.session_id as "sessionId", r.source,
                            r.event_id as "eventId", r.occurred_at as "occurredAt", r.tags, r.metadata,
                            r.promoted_at as "promotedAt", r.created_at as "createdAt"
                       from raw_memories r where r.id = p.id
                      offset 0) s) o) f;
  return json_build_object(
    'words', _words, 'matched', _found - _predicted, 'predicted', _predicted, 'rows', _rows, 'whole', _whole);
end $$;
