-- Returns the language that a text's function words show, English by default, and these words as English stems, as they
-- are in the indexes. English is known by common words, without a comparison of languages.
create or replace function language_v1(_text text) returns table (language regconfig, function_words text[])
language sql stable as $$
  with languages as (
    select l.language from (values ('english'::regconfig), ('german'), ('french'), ('spanish')) l (language)
  ),
  kept as materialized (
    select l.language, unnest(w.positions) as place
      from languages l cross join lateral unnest(to_tsvector(l.language, _text)) w
  ),
  dropped as (
    select l.language, string_agg(w.lexeme, ' ') as words, count(*) as number
      from languages l
     cross join unnest(to_tsvector('simple', _text)) w
     where not exists (select from kept k where k.language = l.language and k.place = w.positions[1])
     group by l.language
  )
  select coalesce(d.language, 'english'), tsvector_to_array(to_tsvector('english', search_terms(coalesce(d.words, ''))))
    from (values (1)) one (row)
    left join lateral (
      select * from dropped d
       where _text ~* '[a-z]{2}' and _text !~* '\m(the|is|my|our|do|does|what|which|where|who|how)\M'
       order by d.number desc, d.language = 'english'::regconfig desc limit 1) d on true
$$;

-- Returns the words of a question by which rows are looked up: the last 24, as English stems, without the function
-- words of its language. A word's look-up also finds its related words and, in German, French or Spanish, all that
-- begin with its stem. `part` is the part of its weight that counts: half, if any question may have the word.
create or replace function question_words_v1(_query text) returns table (word text, lookup tsquery, part float8)
language sql stable as $$
  with spoken as materialized (select * from language_v1(_query)),
  stems as (
    select w.lexeme as stem, unnest(w.positions) as place
      from spoken s cross join unnest(to_tsvector(s.language, search_terms(_query))) w
     where s.language <> 'english'::regconfig and length(w.lexeme) >= 4
  )
  select w.lexeme, coalesce(l.lookup || b.lookup, l.lookup),
         case when w.lexeme = any ('{use,run,get,go,take,make,want,need,like,know,say,tell,mani,much,current,version}')
              then 0.5 else 1 end
    from spoken s
   cross join unnest(to_tsvector('english', search_terms(_query))) w
    left join related_words_v1() r on r.word = w.lexeme
   cross join lateral (
     select coalesce(
       r.lookup, ('''' || replace(replace(w.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery) as lookup) l
    left join lateral (
      select (s.stem || ':*')::tsquery as lookup from stems s where s.place = any (w.positions) and s.stem ~ '^\w+$'
       limit 1) b on true
   where w.lexeme <> all (s.function_words)
   order by w.positions[cardinality(w.positions)] desc limit 24
$$;

-- `facts_about_v1`, `episodes_about_v1` and `raw_about_v1` return the rows of a tier that are about a question, with
-- their relevance: 1 for the most relevant row. They search the rows since `_since` (facts: all that hold now), without
-- stale episodes, predictions and rows of other projects than `_projects`, or, if `_among` is given, only those of
-- these rows that it lists. `_count` is the number of searched rows.
--
-- Relevance is the sum of the inverse document frequencies (as in BM25: Robertson and Zaragoza, 2009) of the question's
-- words that the row has. A word's rows are counted up to `context_found_max`. A word with that many rows counts only
-- in rows that also have a rarer word of the question, or all of its last three such frequent words (of fewer, if there
-- are no more). Scores are rounded, so that the order in which they are summed cannot decide a tie.
--
-- A fact also has the words of its quotes, and those of the facts that it replaces: who asks seldom uses the words of a
-- model, and who says what is new often leaves out what it is of.
--
-- A raw row also gains from the two rows before it in its session that are about the question, because the answer to a
-- question seldom repeats its words, and from the best rows of its session, which show what the session was about. A
-- word of at least five characters that no fact has also finds facts with similar words: it may be misspelled or
-- unfinished.
--
-- The look-ups inside `offset 0` compare nothing but the words and the account as text, which only the indexes on words
-- and trigrams contain. Otherwise the planner may expect an account to have a handful of rows, and compare all of its
-- thousands with each word.
-- Number of quotes that each word of a question finds.
create or replace function context_quotes_max() returns int language sql immutable as $$ select 50 $$;

-- Returns the fact that replaced the fact `_id`, the one that replaced that, and so on: the last of them.
create or replace function latest_fact_v1(_id uuid) returns uuid language sql stable as $$
  with recursive later as (
    select f.id, f.superseded_by, 1 as step from facts f where f.id = _id
    union all
    select f.id, f.superseded_by, l.step + 1 from later l join facts f on f.id = l.superseded_by where l.step < 20
  )
  select l.id from later l order by l.step desc limit 1
$$;

do $do$
declare
  _tier record;
  _look_up text;
begin
  for _tier in
    select *
      from (values
        ('facts_about_v1', 'facts', 'r.text', 'fact_holds_v1(r)', 'null::text', 5, false),
        ('episodes_about_v1', 'episodes', $s$r.title || ' ' || r.summary$s$,
         'r.ended_at >= _since and r.stale_at is null and in_projects_v1(r.project, _projects)',
         'null::text', null, false),
        ('raw_with_words_v1', 'raw_memories', $s$coalesce(r.agent || ' ', '') || r.content$s$,
         $s$r.occurred_at >= _since and r.origin not in ('accepted_prediction', 'edited_prediction')
            and in_projects_v1(r.project, _projects)$s$,
         'r.session_id', null, true)
      ) t (name, of, words, shown, session, nearly, in_sessions)
  loop
    _look_up := format($$
      select r.id, %1$s as session
        from (select r.* from %2$I r
               where r.account_id::text = _account::text
                 and to_tsvector('english', search_terms(%3$s)) @@ w.lookup
              offset 0) r
       where %4$s and (_among is null or r.id = any (_among)) limit context_found_max() $$,
      _tier.session, _tier.of, _tier.words, _tier.shown);
    if _tier.of = 'facts' then
      _look_up := format($$
        (%1$s) union
        select r.id, null
          from (select l.from_id from memory_links l
                 where l.account_id::text = _account::text and l.relation = 'derived_from'
                   and to_tsvector('english', search_terms(l.quote)) @@ w.lookup
                offset 0 limit context_quotes_max()) l
          join facts f on f.id = l.from_id
          join facts r on r.id = case when f.superseded_by is null then f.id else latest_fact_v1(f.superseded_by) end
         where %2$s and (_among is null or r.id = any (_among)) $$, _look_up, _tier.shown);
    end if;
    execute format($function$
      create or replace function %1$I(
        _account uuid, _since timestamptz, _query text, _count int, _among uuid[], _projects text[])
      returns table (id uuid, relevance real) language sql stable as $$
        with words as materialized (
          select w.word, w.lookup, w.part, row_number() over () as place from question_words_v1(_query) w
        ),
        found as materialized (
          select w.place, h.* from words w cross join lateral (
            %8$s) h
        ),
        weights as materialized (
          select w.*, coalesce(f.rows, 0) as rows,
                 w.part * ln(1 + (greatest(_count, f.rows, 1) - coalesce(f.rows, 0) + 0.5::float8)
                          / (coalesce(f.rows, 0) + 0.5::float8)) as weight
            from words w
            left join (select f.place, count(*) as rows from found f group by f.place) f using (place)
        ),
        hits as materialized (
          select f.id, f.session, w.place, w.weight
            from found f join weights w using (place) where w.rows < context_found_max()
          union all
          select h.id, h.session, w.place, w.weight
            from (select w.place, w.weight, w.lookup && rare.lookup as lookup
                    from weights w
                   cross join (select string_agg(w.lookup::text, ' | ')::tsquery as lookup
                                 from weights w where w.rows < context_found_max()) rare
                   where w.rows = context_found_max() and rare.lookup is not null
                   order by w.place limit 8) w
           cross join lateral (
             %8$s) h
          union all
          select h.id, h.session, w.place, w.weight
            from (select string_agg(w.lookup::text, ' & ')::tsquery as lookup, min(w.place) as place,
                         sum(w.weight) as weight
                    from (select w.* from weights w where w.rows = context_found_max() order by w.place limit 3) w
                  having count(*) > 0) w
           cross join lateral (
             %8$s) h
          union all
          select h.id, h.session, w.place, w.weight / 2
            from (select w.* from weights w where w.rows = 0 and length(w.word) >= %6$L::int
                   order by length(w.word) desc limit 2) w
           cross join lateral (
             select r.id, %5$s as session
               from (select r.* from %2$I r
                      where r.account_id::text = _account::text and w.word <%% search_text(%3$s)
                     offset 0) r
              where %4$s and (_among is null or r.id = any (_among)) limit 100) h
        ),
        best as materialized (
          select h.id, h.session, sum(h.weight)::real as score from hits h group by h.id, h.session
           order by score desc, h.id desc limit context_hits_max()
        ),
        following as materialized (
          select n.id, b.session, h.place, h.weight * n.part * least(1, 200::float8 / n.length) as weight
            from best b
           cross join lateral (
             select r.id, r.part, length(p.content) as length
               from raw_memories p
              cross join lateral (
                 select r.*, case row_number() over (order by r.occurred_at, r.id) when 1 then 0.65 else 0.3
                          end::float8 as part
                   from raw_memories r
                  where r.account_id = _account and r.session_id = b.session and in_projects_v1(r.project, _projects)
                    and (r.occurred_at, r.id) > (p.occurred_at, p.id)
                  order by r.occurred_at, r.id limit 2) r
              where p.id = b.id and r.origin not in ('accepted_prediction', 'edited_prediction')) n
            join hits h on h.id = b.id
           where %7$L::boolean and b.session is not null
        ),
        scored as materialized (
          select s.id, s.session, sum(s.weight) as score
            from (select s.id, s.session, s.place, max(s.weight) as weight
                    from (select h.* from hits h union all select f.* from following f) s
                   group by s.id, s.session, s.place) s
           group by s.id, s.session
        ),
        sessions as (
          select s.session, sum(s.score) / 3 as score
            from (select s.*, row_number() over (partition by s.session order by s.score desc) as place
                    from scored s where %7$L::boolean) s
           where s.place <= 3 group by s.session
        ),
        summed as (
          select s.id, (s.score + coalesce(o.score, 0) / 2)::real as score
            from scored s left join sessions o using (session)
           order by 2 desc, 1 desc limit context_hits_max()
        )
        select s.id, s.score / max(s.score) over () from summed s
      $$ $function$, _tier.name, _tier.of, _tier.words, _tier.shown, _tier.session, _tier.nearly, _tier.in_sessions,
      _look_up);
  end loop;
end $do$;

-- Merges two lists of ids by place: the first of both lists, then the second of both, and so on. Returns each id once,
-- with its relevance, which is 0 for ids of the first list alone.
create or replace function in_turn_v1(_latest uuid[], _about uuid[], _relevance real[])
returns table (id uuid, place bigint, relevance real) language sql immutable as $$
  select i.id, min(i.place), max(i.relevance)
    from (select *, 0::real from unnest(_latest) with ordinality o (id, place)
          union all
          select o.id, o.place, o.relevance from unnest(_about, _relevance) with ordinality o (id, relevance, place))
         i (id, place, relevance)
   group by i.id
$$;
