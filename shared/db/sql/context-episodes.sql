-- Episodes that ended since then: all, or the latest and those about the question, as far as they fit into `_room`
-- bytes.
create or replace function context_episodes_v2(_account uuid, _query text, _since timestamptz, _most int, _room int)
returns json language plpgsql stable as $$
declare
  _words jsonb := (select coalesce(jsonb_agg(w), '[]') from query_words_v1(_query, 'episodes_search') w);
  _rows json;
  _whole boolean;
  _about uuid[];
  _latest uuid[] := array(
    select e.id from episodes e
     where e.account_id = _account and e.ended_at >= _since and e.stale_at is null
     order by e.ended_at desc, e.id desc limit _most);
  _stale int := (select count(*) from (
    select from episodes e
     where e.account_id = _account and e.ended_at >= _since and e.stale_at is not null
     limit context_count_max()) e);
  -- By the index alone.
  _found int := (select count(*) from (
    select from episodes e where e.account_id = _account and e.ended_at >= _since
     limit context_count_max() + _stale) e);
begin
  -- Else these are all.
  if cardinality(_latest) = _most then
    _about := array(
      select h.id
        from jsonb_to_recordset(_words) w (share real, lookup tsquery)
       cross join lateral (
         select e.id
           from (select e.id, e.ended_at, e.stale_at from episodes e
                  where e.account_id::text = _account::text
                    and to_tsvector('simple', search_text(e.title || ' ' || e.summary)) @@ w.lookup
                 offset 0) e
          where e.ended_at >= _since and e.stale_at is null
          limit context_found_max()) h
       group by h.id order by sum(-ln(w.share + 0.0001)) desc, h.id desc limit context_hits_max());
  end if;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_latest, _about) p
                   cross join lateral (
                     select e.id, e.title, e.summary, e.started_at as "startedAt", e.ended_at as "endedAt", e.status,
                            e.origin, e.tags, e.salience, e.model, e.promoted_at as "promotedAt",
                            e.created_at as "createdAt", e.updated_at as "updatedAt",
                            (select count(*) from (
                               select from memory_links l
                                where l.account_id = _account and l.from_id = e.id limit 10) l) as support
                       from episodes e where e.id = p.id
                      offset 0) s) o) f;
  return json_build_object(
    'words', _words, 'matched', _found - _stale, 'stale', _stale, 'rows', _rows, 'whole', _whole);
end $$;
