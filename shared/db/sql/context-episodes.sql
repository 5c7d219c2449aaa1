-- Returns episodes that ended at `_since` or later: the `_most` latest and those about the question, as many as fit
-- into `_room` bytes.
create or replace function context_episodes_v1(
  _account uuid, _query text, _projects text[], _since timestamptz, _most int, _room int)
returns json language plpgsql stable as $$
declare
  _rows json;
  _whole boolean;
  _about uuid[];
  _relevance real[];
  _latest uuid[] := array(
    select e.id from episodes e
     where e.account_id = _account and e.ended_at >= _since and e.stale_at is null
       and in_projects_v1(e.project, _projects)
     order by e.ended_at desc, e.id desc limit _most);
  _stale int := (select count(*) from (
    select from episodes e
     where e.account_id = _account and e.ended_at >= _since and e.stale_at is not null
     limit context_count_max()) e);
  -- The index alone answers this count.
  _found int := (select count(*) from (
    select from episodes e
     where e.account_id = _account and e.ended_at >= _since and in_projects_v1(e.project, _projects)
     limit context_count_max() + _stale) e);
  -- `_found` may include more stale rows than `_stale` counted. If `_latest` is not full, it has all matches.
  _matched int := case when cardinality(_latest) < _most then cardinality(_latest) else _found - _stale end;
begin
  select array_agg(a.id order by a.relevance desc), array_agg(a.relevance order by a.relevance desc)
    into _about, _relevance
    from episodes_about_v1(_account, _since, _query, _matched, null, _projects) a;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_latest, _about, _relevance) p
                   cross join lateral (
                     select e.id, e.title, e.summary, e.started_at as "startedAt", e.ended_at as "endedAt", e.status,
                            e.origin, e.project, e.tags, e.salience, e.model, e.promoted_at as "promotedAt",
                            e.created_at as "createdAt", e.updated_at as "updatedAt",
                            (select count(*) from (
                               select from memory_links l
                                where l.account_id = _account and l.from_id = e.id limit 10) l) as support,
                            p.relevance
                       from episodes e where e.id = p.id
                      offset 0) s) o) f;
  return json_build_object(
    'matched', _matched, 'stale', _stale, 'rows', _rows, 'whole', _whole);
end $$;
