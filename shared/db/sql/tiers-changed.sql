-- Words that say that something has changed, in English, German, French and Spanish.
create or replace function changing_words_v1() returns text language sql immutable as $$
  select '\m(now|since|these days|nowadays|from now|from this|no longer|instead|any ?more|as of|took over'
      || '|sold|left|retired|died|broke|closed|ended|gave up|given up|swapped|replaced|handed|dropped|cancelled|quit'
      || '|stopped|switched|changed|moved|migrated|traded|returned|lapsed?|threw out|thrown out|outgrew|finished'
      || '|deprecated'
      || '|jetzt|nun|inzwischen|seit|statt|verkauft|gewechselt|gekündigt|maintenant|désormais|depuis|vendu|quitté'
      || '|remplacé|ahora|desde|ya no|vendí|cambié|dejé)\M'
$$;

-- Returns raw rows in which the person says later that a value has changed, of values in the rows `_ids`: "We sold the
-- Skoda and bought a Renault" after "I drive a Skoda". Who changes something often names only what they had, so such a
-- row may have none of the question's words. It is nearly as relevant as the one that it changes.
--
-- A value's words are those of the person's short rows among `_ids` that the question does not have, and that few rows
-- have. Only short rows count, because long ones mention much that they do not change.
create or replace function changed_later_v1(
  _account uuid, _since timestamptz, _query text, _ids uuid[], _relevance real[], _among uuid[], _projects text[])
returns table (id uuid, relevance real) language sql stable as $$
  with stated as materialized (
    select r.occurred_at, r.content, i.relevance
      from unnest(_ids, _relevance) i (id, relevance) join raw_memories r using (id)
     where i.relevance >= 0.4 and r.role = 'human' and r.origin = 'human' and length(r.content) <= 80
       and r.content !~ '\?\s*$'
     order by i.relevance * case when r.content ~ '\s([A-Z][a-z]|\S*\d)' then 1.5 else 1 end desc, r.id desc
     limit 10
  ),
  asked as materialized (select q.lookup from question_words_v1(_query) q),
  words as materialized (
    select w.lexeme, min(s.occurred_at) as since, max(s.relevance) as relevance
      from stated s cross join language_v1(s.content) l cross join unnest(to_tsvector('english', search_terms(
             case when s.content ~ '\s([A-Z][a-z]|\S*\d)'
                  then regexp_replace(s.content, '(?<!\S)[^A-Z0-9]\S*', '', 'g') else s.content end))) w
     where w.lexeme !~ '^(sinc|day|week|month|year|spring|summer|autumn|winter)$'
       and w.lexeme <> all (l.function_words)
       and not exists (select from asked q where array_to_tsvector(array[w.lexeme]) @@ q.lookup)
     group by w.lexeme order by max(s.relevance) desc, w.lexeme limit 24
  )
  select l.id, max(0.95 * w.relevance)::real
    from words w
   cross join lateral (
     select r.*, count(*) over () as rows
       from (select r.* from (
              select r.* from raw_memories r
               where r.account_id::text = _account::text
                 and to_tsvector('english', search_terms(coalesce(r.agent || ' ', '') || r.content))
                     @@ ('''' || replace(replace(w.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
              offset 0) r limit 5) r) l
   where l.rows < 5 and l.occurred_at > w.since and l.occurred_at >= _since
     and l.role = 'human' and l.origin = 'human' and length(l.content) <= 120 and l.content !~ '\?\s*$'
     and in_projects_v1(l.project, _projects) and (_among is null or l.id = any (_among))
     and l.content ~* changing_words_v1()
   group by l.id
$$;

-- Words with which people speak of themselves, in the same languages.
create or replace function own_words_v1() returns text language sql immutable as $$
  select '\m(i|my|mine|me|we|our|us|ich|mein\w*|wir|unser\w*|je|mon|ma|mes|nous|notre|nos|yo|mi|mis|nuestr[oa]s?)\M'
$$;

-- Like `facts_about_v1`, for raw rows. Those that change a value come with it, if the question is for one of the
-- person's own: it says so, or names nobody.
create or replace function raw_about_v1(
  _account uuid, _since timestamptz, _query text, _count int, _among uuid[], _projects text[])
returns table (id uuid, relevance real) language sql stable as $$
  with about as materialized (
    select a.* from raw_with_words_v1(_account, _since, _query, _count, _among, _projects) a
  ),
  best as materialized (
    select array_agg(b.id) as ids, array_agg(b.relevance) as relevance
      from (select a.* from about a order by a.relevance desc, a.id desc limit 150) b
  )
  select r.id, max(r.relevance)
    from (select a.* from about a
          union all
          select c.* from best b
           cross join changed_later_v1(_account, _since, _query, b.ids, b.relevance, _among, _projects) c
           where _query ~ '[?？؟]\s*$'
             and (_query !~ '\s[A-Z][a-z]' or _query ~* own_words_v1())) r
   group by r.id
$$;
