-- Words that a person wrote after each tail, the end of a draft from some word on: all of it, or a fair sample of
-- about `_most` phrases. Every eighth phrase has a `sample` of 1 or more, every eighth of these one of 2 or more,
-- up to 4; the sparsest are read first, so that what this costs does not grow with what was written. `scale`
-- is how many phrases each one stands for. What was written in an app of these names, as far as the recorded
-- `source` or `agent` says so, is that app's matter.
create or replace function phrases_after_v1(_account uuid, _elsewhere text[], _tails text[], _most int)
returns table (words int, scale int, following text, days float8, source uuid) language plpgsql stable as $$
declare
  _found phrases[];
  _more phrases[];
  _sample int;
begin
  for _place in 1 .. cardinality(_tails) loop
    continue when _tails[_place] = '';
    _found := '{}';
    _sample := 4;
    while _sample >= 0 loop
      _more := array(
        select p from phrases p
         where p.account_id = _account and p.sample = _sample
           and p.words >= _tails[_place] and p.words < _tails[_place] || chr(1114111)
         limit _most + 1 - cardinality(_found));
      exit when cardinality(_found) > 0 and cardinality(_found) + cardinality(_more) > _most;
      _found := _found || _more;
      _sample := _sample - 1;
      exit when cardinality(_found) > _most;
    end loop;
    -- Longer ends of the draft contain this one.
    exit when cardinality(_found) = 0;
    return query
      select _place - 1, (8 ^ (_sample + 1))::int, substr(coalesce(p.written, p.words), length(_tails[_place]) + 1),
             greatest(0, extract(epoch from now() - p.written_at) / 86400)::float8, p.raw_id
        from unnest(_found) p
       where cardinality(_elsewhere) = 0 or not exists (
         select from raw_memories r
          where r.id = p.raw_id and (lower(r.source) = any (_elsewhere) or lower(r.agent) = any (_elsewhere)));
  end loop;
end $$;

-- The same of the person behind a connection, without what they wrote in another connected app.
create or replace function recall_phrases_v1(_connection uuid, _tails text[], _most int)
returns table (words int, scale int, following text, days float8, source uuid) language plpgsql stable as $$
declare
  _account uuid;
  _elsewhere text[];
begin
  select c.account_id, array(
           select lower(a.name) from connections o join apps a on a.id = o.app_id
            where o.account_id = c.account_id and o.app_id <> c.app_id)
    into _account, _elsewhere
    from connections c where c.id = _connection;
  if _account is not null then
    return query select * from phrases_after_v1(_account, _elsewhere, _tails, _most);
  end if;
end $$;

-- A row takes its phrases along, however it is deleted: a foreign key would look each of them up when it is added.
create or replace function forget_phrases() returns trigger language plpgsql as $$
begin
  delete from phrases p using gone g where p.raw_id = g.id;
  return null;
end $$;

-- Made once, because making a trigger locks its table.
do $$ begin
  if exists (select from pg_trigger where tgname = 'raw_forgotten' and tgrelid = 'raw_memories'::regclass) then
    return;
  end if;
  create trigger raw_forgotten after delete on raw_memories referencing old table as gone
    for each statement execute function forget_phrases();
end $$;
