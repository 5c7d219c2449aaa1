import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { isCancelled } from '../../faults.ts';
import { transaction } from '../../transaction.ts';

/** A tier as it is searched. Its texts are those of its indexes. */
export interface SearchedTier {
  table: string;
  time: string;
  /** Column that is compared by characters. */
  text: string;
  /** Column that is compared by words. */
  words: string;
  /** Finds the rows about a question: see `sql/tiers-about.sql`. */
  about: string;
}

/** A part of a statement, about the row `r`. */
export interface Condition {
  sql: string;
  values: unknown[];
}

export function condition(sql: string, ...values: unknown[]): Condition {
  return { sql, values };
}

/** Relevance of a row that matches literally; of others it is less, of all of them more than 0. */
const LITERAL = 1000;

/** All rows that meet the conditions, equally relevant. */
export function allOf(tier: SearchedTier, conditions: readonly Condition[]): Condition {
  const { sql, values } = together(conditions);
  return { sql: `select r.*, ${LITERAL} as relevance from ${tier.table} r where ${sql}`, values };
}

/** Time for a search: each row that the indexes offer is compared with each word. */
const SEARCH_TIMEOUT_MS = 3000;

/** Runs a search in a transaction. Throws `overloaded` when a statement takes too long. */
export async function search<Result>(
  em: EntityManager,
  run: (tx: EntityManager) => Promise<Result>,
): Promise<Result> {
  try {
    return await transaction(em, async (tx) => {
      await tx.execute(
        `set local statement_timeout = ${SEARCH_TIMEOUT_MS}; set local max_parallel_workers_per_gather = 0;
         set local enable_seqscan = off; set local jit = off`,
      );
      return run(tx);
    });
  } catch (error) {
    if (!isCancelled(error)) throw error;
    throw new AppError('overloaded', { cause: error, explanation: TOO_LONG });
  }
}

const TOO_LONG =
  'The search takes too long: narrow it by since, until, tag or session_id, or search for fewer words.';

/** A row's place in its list. */
export interface Position {
  at: Date;
  id: string;
  relevance: number;
}

/** Leads an index to the place behind a row, where all rows are equally relevant. */
export function behind({ time }: SearchedTier, { at, id }: Position): Condition {
  return condition(`(r.${time}, r.id) < (?::timestamptz, ?::uuid)`, at, id);
}

/**
 * Rows that meet the conditions, with their relevance, from a place on: those that match literally, the latest `most` of
 * them, and those that are about the question as in the context. The latter are chosen among all that meet the
 * conditions, or where these are many, among all.
 */
export async function matchesOf(
  em: EntityManager,
  tier: SearchedTier,
  accountId: string,
  { q, after, most }: { q: string; after?: Position | undefined; most: number },
  conditions: readonly Condition[],
): Promise<Condition> {
  const about = await aboutIt(em, tier, accountId, q, together(conditions));
  const literal = matching(tier, q);
  const onlyAbout = [condition(`(${literal.sql}) is not true`, ...literal.values)];
  const latest = [literal];
  if (after !== undefined) {
    const place = `(a.relevance, r.${tier.time}, r.id) < (?::int, ?::timestamptz, ?::uuid)`;
    onlyAbout.push(condition(place, after.relevance, after.at, after.id));
    latest.push(after.relevance === LITERAL ? behind(tier, after) : condition('false'));
  }
  const [first, rest] = [together([...conditions, ...latest]), together([...conditions, ...onlyAbout])];
  return {
    sql: `(select r.*, ${LITERAL} as relevance from ${tier.table} r where ${first.sql}
            order by r.${tier.time} desc, r.id desc limit ?)
       union all
       select r.*, a.relevance from json_to_recordset(?::json) a (id uuid, relevance int)
         join ${tier.table} r on r.id = a.id where ${rest.sql}`,
    values: [...first.values, most, JSON.stringify(about), ...rest.values],
  };
}

function aboutIt(
  em: EntityManager,
  tier: SearchedTier,
  accountId: string,
  q: string,
  chosen: Condition,
): Promise<{ id: string; relevance: number }[]> {
  return em.execute(
    `with chosen as materialized (
       select array(select r.id from ${tier.table} r where ${chosen.sql}
                     order by r.${tier.time} desc limit context_count_max()) as ids
     )
     select a.id, ceil(a.relevance * ${LITERAL - 1})::int as relevance
       from chosen c
      cross join ${tier.about}(
        ?::uuid, '-infinity', ?, cardinality(c.ids),
        case when cardinality(c.ids) < context_count_max() then c.ids end) a`,
    [...chosen.values, accountId, q],
  );
}

/**
 * Matches the very characters, or the stems of all of the words, or something that is nearly each of the words. The
 * cheapest to check comes first.
 */
function matching({ text, words }: SearchedTier, q: string): Condition {
  const asked = q.split(/\s+/u).filter(Boolean);
  const nearly = asked.map(() => `search_text(?) <% search_text(${text})`).join(' and ') || 'false';
  const sql = `(search_text(${text}) like '%' || ${VERBATIM} || '%'
      or to_tsvector('english', search_text(${words})) @@ plainto_tsquery('english', search_text(?)) or (${nearly}))`;
  return condition(sql, q, q, ...asked);
}

/** A pattern of the very characters. Escaped last: the compatibility form of a full-width per cent sign is one. */
const VERBATIM = String.raw`regexp_replace(search_text(?), '([\\%_])', '\\\1', 'g')`;

function together(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => sql).join(' and '),
    values: conditions.flatMap(({ values }) => values),
  };
}
