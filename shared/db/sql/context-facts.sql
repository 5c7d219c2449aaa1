-- Checks whether a fact is neither superseded nor stale, and valid now.
create or replace function fact_holds_v1(f facts) returns boolean language sql stable as $$
  select f.superseded_by is null and f.stale_at is null
     and (f.valid_from is null or f.valid_from <= now()) and (f.valid_to is null or f.valid_to > now())
$$;

-- Returns the ids of the latest `context_count_max` facts that hold, contain `_goal` and have one of `_tags`, if given,
-- latest first. The statement is planned for the given values: it finds a frequent text by reading the latest facts,
-- and a rare one by the index.
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

-- Returns facts that are valid now, contain `_goal` and have one of `_tags`, if given: the pinned, the latest, and
-- those about the question, even if it spells a word differently; as many as fit into `_room` bytes. A fact is about
-- the person, whatever they worked on, unless its kind is `project`.
create or replace function context_facts_v1(
  _account uuid, _query text, _goal text, _tags text[], _projects text[], _most int, _room int)
returns json language plpgsql stable as $$
declare
  _filtered boolean := _goal is not null or _tags is not null;
  _matching uuid[];
  _rows json;
  _whole boolean;
  _about uuid[];
  _relevance real[];
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
  _matched int;
  _pinned uuid[];
begin
  if _filtered then
    _matching := matching_facts_v1(_account, _goal, _tags);
    _matched := cardinality(_matching);
    _latest := _matching[1:_most];
  else
    -- The index alone answers this count.
    _current := (select count(*) from (
      select from facts f where f.account_id = _account and f.superseded_by is null
       limit context_count_max() + _stale + _expired + _not_yet) f);
    _latest := array(
      select f.id from facts f where f.account_id = _account and fact_holds_v1(f) order by f.id desc limit _most);
    -- `_current` may include more other facts than were counted. If `_latest` is not full, it has all matches.
    _matched := case
      when cardinality(_latest) < _most then cardinality(_latest) else _current - _stale - _expired - _not_yet end;
  end if;
  _pinned := array(
    select f.id from facts f
     where f.account_id = _account and f.pinned and fact_holds_v1(f) and (not _filtered or f.id = any (_matching))
     order by f.id desc limit _most);
  select array_agg(a.id order by a.relevance desc), array_agg(a.relevance order by a.relevance desc)
    into _about, _relevance
    from facts_about_v1(_account, null, _query, coalesce(cardinality(_matching), _current), _matching, null) a;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_pinned || _latest, _about, _relevance) p
                   cross join lateral (
                     select f.id, f.text, f.kind, f.slot, f.origin, f.project, f.tags, f.confidence,
                            f.valid_from as "validFrom", f.valid_to as "validTo", f.recorded_at as "recordedAt",
                            f.pinned, f.model, f.created_at as "createdAt", f.updated_at as "updatedAt",
                            (select count(*) from (
                               select from memory_links l
                                where l.account_id = _account and l.from_id = f.id limit 10) l) as support,
                            p.relevance
                       from facts f
                      where f.id = p.id and in_projects_v1(case f.kind when 'project' then f.project end, _projects)
                      offset 0) s) o) f;
  return json_build_object(
    'matched', _matched, 'superseded', _superseded, 'stale', _stale, 'expired', _expired, 'notYetValid', _not_yet,
    'rows', _rows, 'whole', _whole);
end $$;
