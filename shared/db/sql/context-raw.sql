-- Returns the ids of the `_most` latest raw rows since `_since` of these projects and of none, latest first and without
-- predictions. Each project is read by itself, in the order of the index.
create or replace function latest_in_projects_v1(_account uuid, _projects text[], _since timestamptz, _most int)
returns setof uuid language sql stable as $$
  select l.id
    from (select r.*
            from unnest(_projects) p (project)
           cross join lateral (
             select r.id, r.occurred_at from raw_memories r
              where r.account_id = _account and r.project = p.project and r.occurred_at >= _since
                and r.origin not in ('accepted_prediction', 'edited_prediction')
              order by r.occurred_at desc, r.id desc limit _most) r
          union all
          (select r.id, r.occurred_at from raw_memories r
            where r.account_id = _account and r.project is null and r.occurred_at >= _since
              and r.origin not in ('accepted_prediction', 'edited_prediction')
            order by r.occurred_at desc, r.id desc limit _most)) l
   order by l.occurred_at desc, l.id desc limit _most
$$;

-- Returns, of the raw rows about the question, those of other projects whose words the person has said in at least
-- three projects: the latest of each.
create or replace function said_in_three_projects_v1(
  _account uuid, _query text, _projects text[], _since timestamptz, _count int)
returns table (id uuid, relevance real) language plpgsql stable as $$
declare
  _name text := '';
begin
  -- Reads three entries of the index. Most people have said nothing in three projects.
  for _ in 1 .. 3 loop
    _name := (select min(r.project) from raw_memories r where r.account_id = _account and r.project > _name);
    if _name is null then
      return;
    end if;
  end loop;
  return query
    select (array_agg(r.id order by r.occurred_at desc, r.id desc))[1], max(a.relevance)
      from raw_about_v1(_account, _since, _query, _count, null, null) a
      join raw_memories r on r.id = a.id
     where r.origin = 'human'
     group by search_text(r.content)
    having count(distinct r.project) >= 3 and not bool_or(in_projects_v1(r.project, _projects));
end $$;

-- Returns raw rows since `_since`: the `_most` latest and those about the question, as many as fit into `_room` bytes.
-- With `_projects`, only rows of these and of none, and what was said in three. Leaves out predictions: even accepted,
-- they are not the person's own words, and must not teach the next prediction.
create or replace function context_raw_v1(
  _account uuid, _query text, _projects text[], _since timestamptz, _most int, _room int)
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
  _latest uuid[] := case
    when _projects is not null then array(select latest_in_projects_v1(_account, _projects, _since, _most))
    else array(
    select r.id from raw_memories r
     where r.account_id = _account and r.occurred_at >= _since
       and r.origin not in ('accepted_prediction', 'edited_prediction')
     order by r.occurred_at desc, r.id desc limit _most) end;
  -- `_found` may include more predictions than `_predicted` counted. If `_latest` is not full, it has all matches.
  _matched int := case
    when cardinality(_latest) < _most then cardinality(_latest)
    when _projects is null then _found - _predicted
    else (select count(*) from latest_in_projects_v1(_account, _projects, _since, context_count_max())) end;
begin
  select array_agg(a.id order by a.relevance desc), array_agg(a.relevance order by a.relevance desc)
    into _about, _relevance
    from (select o.* from raw_about_v1(_account, _since, _query, _matched, null, _projects) o
          union all
          select o.* from said_in_three_projects_v1(_account, _query, _projects, _since, _found) o
           where _projects is not null) a;
  select coalesce(json_agg(f.shown) filter (where f.fits), '[]'), coalesce(bool_and(f.fits), true) into _rows, _whole
    from (select o.shown, sum(octet_length(o.shown::text)) over (order by o.place) <= _room as fits
            from (select p.place, row_to_json(s) as shown
                    from in_turn_v1(_latest, _about, _relevance) p
                   cross join lateral (
                     select r.id, r.content, r.kind, r.role, r.origin, r.agent, r.session_id as "sessionId", r.source,
                            r.event_id as "eventId", r.occurred_at as "occurredAt", r.project, r.tags, r.metadata,
                            r.promoted_at as "promotedAt", r.created_at as "createdAt",
                            p.relevance
                       from raw_memories r where r.id = p.id
                      offset 0) s) o) f;
  return json_build_object(
    'matched', _matched, 'predicted', _predicted, 'rows', _rows, 'whole', _whole);
end $$;
