import type { EntityManager } from '@mikro-orm/postgresql';
import { givenUpValuesIn, specificWordsIn, statedValueOf } from '../../../domain/facts/compare.ts';
import type { KnownFact } from '../../../domain/facts/reconcile.ts';
import type { CheckedQuote, Statement } from '../../../domain/facts/statement.ts';
import { slotOf } from '../../../domain/facts/topics.ts';
import { wordsOf } from '../../../text/words.ts';
import { DERIVED_FROM, FORGOTTEN } from './links.ts';

export interface RelatedFact {
  id: string;
  text: string;
  /** Subject that has one value at a time, such as `tool.editor`; null if the fact has none. */
  slot: string | null;
}

/** Words of a text that are searched for: their maximum number and minimum length. */
const WORDS_MAX = 200;
const WORD_LENGTH_MIN = 3;

/**
 * Maximum number of found facts that are ranked. Ranking takes longer than finding, and common words match nearly all
 * facts.
 */
const RANKED_FACTS_MAX = 1000;

/**
 * Query for texts that contain all words of at least one of several lists, such as `grey cat or dog`. Like the index,
 * rewrites letters such as ß with `search_text`.
 */
const ANY_WORDS_QUERY = `websearch_to_tsquery('english', search_terms(?))`;

/** Finds the current facts that share words with a text, most related first. Ranks at most `RANKED_FACTS_MAX` facts. */
export async function relatedFacts(
  em: EntityManager,
  accountId: string,
  text: string,
  count: number,
): Promise<RelatedFact[]> {
  const words = [...new Set(wordsOf(text).filter((word) => word.length >= WORD_LENGTH_MIN))].slice(
    0,
    WORDS_MAX,
  );
  if (words.length === 0) return [];
  return em.execute<RelatedFact[]>(
    `select f.id, f.text, f.slot
       from (
         select f.id, f.text, f.slot, q.words
           from facts f cross join (select ${ANY_WORDS_QUERY} as words) q
          where f.account_id = ? and f.superseded_by is null and f.stale_at is null
            and to_tsvector('english', search_terms(f.text)) @@ q.words
          limit ${RANKED_FACTS_MAX}) f
      order by ts_rank(to_tsvector('english', search_terms(f.text)), f.words) desc, f.id limit ?`,
    [words.join(' or '), accountId, count],
  );
}

/** Reads these facts in the given order, without superseded and stale ones. */
export function currentFacts(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<RelatedFact[]> {
  return tx.execute<RelatedFact[]>(
    `select f.id, f.text, f.slot from unnest(array[?]::uuid[]) with ordinality n (id, place)
       join facts f on f.id = n.id and f.account_id = ? and f.superseded_by is null and f.stale_at is null
      order by n.place`,
    [ids, accountId],
  );
}

/** Maximum number of facts that each of three searches finds: by similar text, by slot, and by words. */
const CANDIDATES_MAX = 30;

/** Finds the facts that may repeat or contradict a statement: former wordings too, but no stale facts. */
export async function knownFacts(
  tx: EntityManager,
  accountId: string,
  { text, slot, target, quotes }: Statement,
): Promise<KnownFact[]> {
  const rows = await tx.execute<KnownRow[]>(KNOWN_FACTS, [
    accountId,
    text,
    text,
    CANDIDATES_MAX,
    accountId,
    slot,
    CANDIDATES_MAX,
    accountId,
    [specificWordsIn(text, null), statedValueOf(text, slot), ...givenUpValuesIn(text)]
      .filter(({ size }) => size > 0)
      .map((words) => [...words].join(' '))
      .join(' or '),
    CANDIDATES_MAX,
    target?.id ?? null,
    accountId,
    quotes.map(({ rawId }) => rawId),
    accountId,
  ]);
  return rows.map(({ fromMs, toMs, ...fact }) => ({
    ...fact,
    // Facts that the person added are stored without a slot.
    slot: fact.slot ?? (fact.origin === 'human' ? slotOf(fact.text) : null),
    validFrom: fromMs === null ? null : new Date(fromMs),
    validTo: toMs === null ? null : new Date(toMs),
  }));
}

interface KnownRow extends Omit<KnownFact, 'validFrom' | 'validTo'> {
  fromMs: number | null;
  toMs: number | null;
}

const KNOWN_FACTS = `
  with near as (
    (select id from facts
      where account_id = ? and search_text(text) % search_text(?)
      order by similarity(search_text(text), search_text(?)) desc limit ?)
    union (select id from facts where account_id = ? and slot = ? order by superseded_by nulls first, id desc limit ?)
    union (select id from facts
            where account_id = ? and superseded_by is null
              and to_tsvector('english', search_terms(text)) @@ ${ANY_WORDS_QUERY}
            order by id desc limit ?)
    union select ?::uuid
    union select l.from_id from memory_links l
           where l.account_id = ? and l.to_id = any (array[?]::uuid[])
             and l.from_tier = 'fact' and l.relation = '${DERIVED_FROM}'
  )
  select f.id, f.text, f.slot, f.origin, f.pinned, f.superseded_by as "supersededBy",
         (extract(epoch from f.valid_from) * 1000)::float8 as "fromMs",
         (extract(epoch from f.valid_to) * 1000)::float8 as "toMs",
         coalesce((select json_agg(json_build_object('rawId', l.to_id, 'words', l.quote) order by l.to_id)
                     from memory_links l
                    where l.account_id = f.account_id and l.from_id = f.id and l.relation = '${DERIVED_FROM}'
                      and l.quote is not null), '[]') as quotes
    from near n join facts f on f.id = n.id
   where f.account_id = ? and f.stale_at is null
   order by f.id`;

/** Leaves out quotes of a passage if the person has deleted a fact that was made from the passage. */
export async function withoutForgotten(
  tx: EntityManager,
  accountId: string,
  quotes: readonly CheckedQuote[],
  isSamePassage: (a: string, b: string) => boolean,
): Promise<CheckedQuote[]> {
  const forgottenQuotes = await tx.execute<{ rawId: string; words: string }[]>(
    `select to_id as "rawId", quote as words from memory_links
      where account_id = ? and relation = '${FORGOTTEN}' and to_id = any (array[?]::uuid[])`,
    [accountId, quotes.map(({ rawId }) => rawId)],
  );
  return quotes.filter(
    ({ rawId, words }) =>
      !forgottenQuotes.some((one) => one.rawId === rawId && isSamePassage(one.words, words)),
  );
}
