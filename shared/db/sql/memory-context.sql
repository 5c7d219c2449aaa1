-- What `/api/memory/context/` and predictions choose from: of each tier the rows that are pinned, that are new, and
-- that are about a question, and how many there are; null when there is no such account. In one snapshot, since all
-- of these functions are stable. `shared/domain/context-bundle.ts` does the choosing: what this returns, and what it
-- costs, is bounded however much the account has. Counts stop at `context_count_max`, the rows of a tier at `_room`
-- bytes of JSON; without room the tables of the tiers are not read at all.
create or replace function memory_context_v2(
  _account uuid, _query text, _goal text, _tags text[], _minutes int, _facts int, _episodes int, _raw int, _room int)
returns json language plpgsql stable
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  _since timestamptz(3) := now() - make_interval(mins => _minutes);
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
      'revision', _revision, 'generatedAt', now()::timestamptz(3), 'since', _since, 'profile', _profile);
  end if;
  return json_build_object(
    'revision', _revision,
    'generatedAt', now()::timestamptz(3),
    'since', _since,
    'profile', _profile,
    'facts', context_facts_v2(_account, _query, _goal, _tags, _facts, _room),
    'episodes', context_episodes_v2(_account, _query, _since, _episodes, _room),
    'raw', context_raw_v2(_account, _query, _since, _raw, _room),
    'backlog', json_build_object(
      'raw', (select count(*) from (
        select from raw_memories r where r.account_id = _account and r.promoted_at is null
         limit context_count_max()) r),
      'episodes', (select count(*) from (
        select from episodes e where e.account_id = _account and e.promoted_at is null
         limit context_count_max()) e)));
end $$;

-- How far rows are counted. Beyond it nobody needs the number, and counting would cost more than the rest.
create or replace function context_count_max() returns int language sql immutable as $$ select 1000 $$;

-- How many rows each word of a question leads to.
create or replace function context_found_max() returns int language sql immutable as $$ select 400 $$;

-- How many rows that are about a question are looked at, of each tier.
create or replace function context_hits_max() returns int language sql immutable as $$ select 150 $$;

-- The words of a question, the rarest first, with the share of all rows that have them: 0 if that is not known,
-- because they are rare or the table was never analyzed. Rows are looked up by each `lookup`, of the first 16 words:
-- those of the rare words, which lead to at most a hundredth of all rows, and the rarest three of the others together.
-- The shares come from the statistics of the tier's full text index, `_index`.
--
-- Only that index has the account as a text, and a look-up compares nothing else below its `offset 0`. Otherwise the
-- planner may expect an account to have a handful of rows, and compare each of its thousands with each word.
create or replace function query_words_v1(_query text, _index text)
returns table (word text, share real, lookup tsquery) language sql stable as $$
  with shares as (
    select unnest(s.most_common_elems::text::text[]) as word, unnest(s.most_common_elem_freqs) as share
      from pg_stats s
     where s.schemaname = any (current_schemas(false)) and s.tablename = _index and s.attname = 'to_tsvector'
  ),
  words as (
    select w.word, coalesce(s.share, 0) as share,
           ('''' || replace(replace(w.word, '\', '\\'), '''', '''''') || '''')::tsquery as lookup
      from unnest(tsvector_to_array(to_tsvector('simple', search_text(_query)))) w (word)
      left join shares s on s.word = w.word
  ),
  ranked as (
    select w.*, row_number() over rarest as place, sum(w.share) over rarest <= 0.01 as rare
      from words w window rarest as (order by w.share, length(w.word) desc, w.word)
  )
  select r.word, r.share,
         case when r.place > 16 then null when r.rare then r.lookup when r.place = f.place then f.lookup end
    from ranked r
   cross join (
     select min(c.place) as place, string_agg(c.lookup::text, ' & ')::tsquery as lookup
       from (select c.* from ranked c where not c.rare order by c.place limit 3) c) f
   where r.place <= 24 order by r.place
$$;

-- The ids of two lists, in turn, the first of each first; each id once.
create or replace function in_turn_v1(_one uuid[], _other uuid[]) returns table (id uuid, place bigint)
language sql immutable as $$
  select i.id, min(i.place)
    from (select * from unnest(_one) with ordinality o (id, place)
          union all
          select * from unnest(_other) with ordinality o (id, place)) i
   group by i.id
$$;
