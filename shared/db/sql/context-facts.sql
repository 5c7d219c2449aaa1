-- Whether a fact is a present wording that holds now and may be shown.
create or replace function fact_holds_v1(f facts) returns boolean language sql stable as $$
  select f.superseded_by is null and f.stale_at is null
     and (f.valid_from is null or f.valid_from <= now()) and (f.valid_to is null or f.valid_to > now())
$$;

-- The facts with a text and one of some tags, the latest first. Planned for what is given: a frequent text is found by
-- reading the latest facts, a rare one by the index.
create or replace function matching_facts_v1(_account uuid, _goal text, _tags text[])
returns uuid[] language plpgsql stable as $$
declare
  _pattern text := '%' || regexp_replace(search_text(_goal), '([\\%_])', '\\\1', 'g') || '%';
  _ids uuid[];
begin
  execute 'select array(select f.id from facts f where f.account_id = $1 and fact_holds_v1(f)'
    || case when _goal is null then '' else ' and search_text(f.text) like $2' end
    || case when _tags is null then '' else ' and f.tags && $3' end
    || ' order by f.id desc limit context_count_max())'
    into _ids using _account, _pattern, _tags;
  return _ids;
end $$;

-- Facts that hold, with the goal in their text and one of the tags if these are given: all, or the pinned, the latest,
-- those about the question, and those with words that are nearly as in the question, as far as they fit into `_room`
-- bytes.
create or replace function context_facts_v2(
  _account uuid, _query text, _goal text, _tags text[], _most int, _room int)
returns json language plpgsql stable as $$
declare
  _words jsonb := (select coalesce(jsonb_agg(w), '[]') from query_words_v1(_query, 'facts_search') w);
  _filtered boolean := _goal is not null or _tags is not null;
  _matching uuid[];
  _rows json;
  _whole boolean;
  _about uuid[];
  _latest uuid[];
  _superseded int := (select count(*) from (
    select from facts f
     where f.account_id = _account and f.superseded_by is not null and f.revision_of is null
     limit context_count_max()) f);
  _stale int := (select count(*) from (
    select from facts f
     where f.account_id = _account and f.superseded_by is null and f.stale_at is not null
     limit context_count_max()) f);
  _expired int := (select count(*) from (
    select from facts f
     where f.account_id = _account and f.superseded_by is null and f.stale_at is null and f.valid_to <= now()
     limit context_count_max()) f);
  _not_yet int := (select count(*) from (
    select from facts f
     where f.account_id = _account and f.superseded_by is null and f.stale_at is null and f.valid_from > now()
     limit context_count_max()) f);
  _current int;
begin
  if _filtered then
    _matching := matching_facts_v1(_account, _goal, _tags);
    _latest := _matching[1:_most];
  else
    -- By the index alone.
    _current := (select count(*) from (
      select from facts f where f.account_id = _account and f.superseded_by is null
       limit context_count_max() + _stale + _expired + _not_yet) f);
    _latest := array(
      select f.id from facts f where f.account_id = _account and fact_holds_v1(f) order by f.id desc limit _most);
  end if;
  -- Else these are all.
  if cardinality(_latest) = _most then
    _about := array(
        select f.id from facts f
         where f.account_id = _account and f.pinned and fact_holds_v1(f)
           and (not _filtered or f.id in (select unnest(_matching)))
         order by f.id desc limit _most)
      || array(
        select h.id
          from jsonb_to_recordset(_words) w (share real, lookup tsquery)
         cross join lateral (
           select f.id
             from (select f.id from facts f
                    where f.account_id::text = _account::text
                      and to_tsvector('simple', search_text(f.text)) @@ w.lookup
                   offset 0) found
             join facts f on f.id = found.id
            where fact_holds_v1(f)
            limit context_found_max()) h
         where not _filtered or h.id in (select unnest(_matching))
         group by h.id order by sum(-ln(w.share + 0.0001)) desc, h.id desc limit context_hits_max())
      || array(
        select h.id
          from (select w.word
                  from jsonb_to_recordset(_words) w (word text, share real, lookup tsquery)
                  left join lateral (
                    select true as known from facts f
                     where f.account_id::text = _account::text
                       and to_tsvector('simple', search_text(f.text)) @@ w.lookup
                     limit 1) f on true
                 where w.share = 0 and length(w.word) >= 5 and f.known is null
                 order by length(w.word) desc, w.word limit 2) w
         cross join lateral (
           select f.id
             from (select f.id from facts f
                    where f.account_id::text = _account::text and w.word <% search_text(f.text)
                   offset 0) found
             join facts f on f.id = found.id
            where fact_holds_v1(f) limit 100) h
         where not _filtered or h.id in (select unnest(_matching)));
  end if;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_latest, _about) p
                   cross join lateral (
                     select f.id, f.text, f.kind, f.slot, f.origin, f.tags, f.confidence, f.valid_from as "validFrom",
                            f.valid_to as "validTo", f.recorded_at as "recordedAt", f.pinned, f.model,
                            f.created_at as "createdAt", f.updated_at as "updatedAt",
                            (select count(*) from (
                               select from memory_links l
                                where l.account_id = _account and l.from_id = f.id limit 10) l) as support
                       from facts f where f.id = p.id
                      offset 0) s) o) f;
  return json_build_object(
    'words', _words, 'matched', coalesce(cardinality(_matching), _current - _stale - _expired - _not_yet),
    'superseded', _superseded, 'stale', _stale, 'expired', _expired, 'notYetValid', _not_yet,
    'rows', _rows, 'whole', _whole);
end $$;
