-- Returns the rows that `/api/memory/context/` and predictions choose from: of each tier, the latest rows, those about
-- a question and the pinned ones (only facts can be pinned), with the number of all that match; null when there is no
-- such account. With `_projects`, leaves out what was said in other projects. All of it is read in one snapshot, since
-- all of these functions are stable.
-- `shared/domain/context-bundle.ts` chooses. The result and its cost are bounded, however much the account has: counts
-- stop at `context_count_max`, the rows of a tier at `_room` bytes of JSON. With a `_room` of 0, the tables of the
-- tiers are not read at all.
create or replace function memory_context_v1(
  _account uuid, _query text, _goal text, _tags text[], _projects text[], _minutes int, _facts int, _episodes int,
  _raw int, _room int)
returns json language plpgsql stable
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  _since timestamptz(3) := coalesce(now() - make_interval(mins => _minutes), '-infinity');
  _revision bigint := (select memory_revision from accounts where id = _account);
  _profile json := (
    select json_build_object('data', p.data, 'summary', p.summary, 'revision', p.revision, 'createdAt', p.created_at,
                             'updatedAt', p.updated_at)
      from profiles p where p.account_id = _account);
begin
  if _revision is null then
    return null;
  end if;
  if _room = 0 then
    return json_build_object(
      'revision', _revision, 'generatedAt', now()::timestamptz(3), 'since', nullif(_since, '-infinity'),
      'profile', _profile);
  end if;
  return json_build_object(
    'revision', _revision,
    'generatedAt', now()::timestamptz(3),
    'since', nullif(_since, '-infinity'),
    'profile', _profile,
    'facts', context_facts_v1(_account, _query, _goal, _tags, _projects, _facts, _room),
    'episodes', context_episodes_v1(_account, _query, _projects, _since, _episodes, _room),
    'raw', context_raw_v1(_account, _query, _projects, _since, _raw, _room),
    'backlog', json_build_object(
      'raw', (select count(*) from (
        select from raw_memories r where r.account_id = _account and r.promoted_at is null
         limit context_count_max()) r),
      'episodes', (select count(*) from (
        select from episodes e where e.account_id = _account and e.promoted_at is null
         limit context_count_max()) e)));
end $$;

-- Checks whether a row of the project `_of` is shown in a request about `_asked`: any is, if that is null. What was
-- said in no known project is shown in all.
create or replace function in_projects_v1(_of text, _asked text[]) returns boolean language sql immutable as $$
  select _asked is null or _of is null or _of = any (_asked)
$$;

-- Number at which counting stops. A larger count would be of no use, and cost more than all the rest.
create or replace function context_count_max() returns int language sql immutable as $$ select 1000 $$;

-- Maximum number of rows that each word of a question finds.
create or replace function context_found_max() returns int language sql immutable as $$ select 400 $$;

-- Maximum number of rows of each tier that are returned as being about a question.
create or replace function context_hits_max() returns int language sql immutable as $$ select 150 $$;
