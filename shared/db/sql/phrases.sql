-- Returns what a person wrote after each tail (the end of a draft, from some word on): all such phrases, or a fair
-- sample of about `_most`. One in eight phrases has a `sample` of 1 or more, one in eight of these has 2 or more, and
-- so on up to 4. Reads the highest and rarest `sample` first, so that the cost does not grow with the amount written;
-- the next lower one, with seven times as many phrases, only if it is expected to fit. `scale` is the number of phrases
-- that each returned one stands for. `line` and `occasion` tell texts and sessions apart. Leaves out phrases whose
-- recorded `source` or `agent` is an app in `_elsewhere`. `project` is read only if `_in_projects`.
create or replace function phrases_after_v1(
  _account uuid, _elsewhere text[], _tails text[], _most int, _in_projects boolean)
returns table (
  words int, scale int, following text, days float8, source uuid, line int, occasion int, project text)
language plpgsql stable as $$
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
      exit when 7 * cardinality(_found) > _most;
    end loop;
    -- The remaining tails are longer and end with this one, so they have no phrases either.
    exit when cardinality(_found) = 0;
    return query
      select _place - 1, (8 ^ (_sample + 1))::int, substr(coalesce(p.written, p.words), length(_tails[_place]) + 1),
             greatest(0, extract(epoch from now() - p.written_at) / 86400)::float8, p.raw_id,
             p.line, p.occasion,
             case when _in_projects then (select r.project from raw_memories r where r.id = p.raw_id) end
        from unnest(_found) p
       where cardinality(_elsewhere) = 0 or not exists (
         select from raw_memories r
          where r.id = p.raw_id and (lower(r.source) = any (_elsewhere) or lower(r.agent) = any (_elsewhere)));
  end loop;
end $$;

-- Returns phrases as `phrases_after_v1` does, for the person behind a connection, without what they wrote in other apps
-- that are or were connected, and only of the projects that they allowed the app. None if they allowed facts only.
create or replace function recall_phrases_v1(_connection uuid, _tails text[], _most int, _in_projects boolean)
returns table (
  words int, scale int, following text, days float8, source uuid, line int, occasion int, project text)
language plpgsql stable as $$
declare
  _account uuid;
  _projects text[];
  _elsewhere text[];
begin
  select c.account_id, c.projects, array(
           select lower(a.name)
             from (select o.app_id from connections o where o.account_id = c.account_id
                   union
                   -- Connections of this account that another account has taken over
                   select o.app_id from erasing_grants g join connections o on o.id = g.connection_id
                    where g.account_id = c.account_id) o
             join apps a on a.id = o.app_id
            where o.app_id <> c.app_id)
    into _account, _projects, _elsewhere
    from connections c where c.id = _connection and c.memory = 'all';
  if _account is not null then
    return query
      select p.words, p.scale, p.following, p.days, p.source, p.line, p.occasion,
             case when _in_projects then p.project end
        from phrases_after_v1(_account, _elsewhere, _tails, _most, _in_projects or _projects is not null) p
       where _projects is null or p.project = any (_projects);
  end if;
end $$;

-- Deletes the phrases of deleted raw rows, however these are deleted. A foreign key would do so too, but it would cost
-- a look-up for each phrase added.
create or replace function forget_phrases() returns trigger language plpgsql as $$
begin
  delete from phrases p using gone g where p.raw_id = g.id;
  return null;
end $$;

-- Creates the trigger only if it is missing, because creating one locks its table.
do $$ begin
  if exists (select from pg_trigger where tgname = 'raw_forgotten' and tgrelid = 'raw_memories'::regclass) then
    return;
  end if;
  create trigger raw_forgotten after delete on raw_memories referencing old table as gone
    for each statement execute function forget_phrases();
end $$;
