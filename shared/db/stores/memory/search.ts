import type { EntityManager } from '@mikro-orm/postgresql';
import { type Answer, isQuestion, relevancesAsAnswers } from '../../../domain/answers.ts';
import { AppError } from '../../../errors/app-error.ts';
import { idsOf } from '../../../ids.ts';
import { isCancelled } from '../../faults.ts';
import { transaction } from '../../statement.ts';

/** SQL for searching a tier of memory. The expressions must be those of the indexes. */
export interface SearchedTier {
  table: string;
  time: string;
  /** Expression in which substrings and similar words are searched for. */
  text: string;
  /** Expression in which word stems are searched for. */
  words: string;
  /** Function that finds the rows about a question: see `sql/tiers-about.sql`. */
  about: string;
  /** Expressions for when a row was said, by whom, and what it settles: see `Answer`. */
  said: { at: string; from: string; slot: string };
}

/** A piece of SQL with its parameters: a condition on the row `r`, or a query of rows. */
export interface Condition {
  sql: string;
  values: unknown[];
}

export function condition(sql: string, ...values: unknown[]): Condition {
  return { sql, values };
}

/**
 * Relevance of a row that has the words of a search (`matchCondition`), and of one that has those of a question, but
 * does not answer it. Other rows are less relevant than the first, and more than the second.
 */
const MATCH_RELEVANCE = 1000;
const QUESTION_MATCH_RELEVANCE = 0;

export function selectWhere(tier: SearchedTier, conditions: readonly Condition[]): Condition {
  const { sql, values } = joinConditions(conditions);
  return { sql: `select r.*, ${MATCH_RELEVANCE} as relevance from ${tier.table} r where ${sql}`, values };
}

/** Time limit of each search statement. A statement compares each word with each row that the indexes find. */
const SEARCH_TIMEOUT_MS = 3000;

/** Throws `overloaded` if a statement takes too long. */
export async function runSearch<Result>(
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
    throw new AppError('overloaded', { cause: error, explanation: TOO_LONG_EXPLANATION });
  }
}

const TOO_LONG_EXPLANATION =
  'The search takes too long: narrow it by since, until, tag or another filter, or search for fewer words.';

export interface Position {
  at: Date;
  id: string;
  relevance: number;
}

/** Condition for the rows after a position, if all are equally relevant. An index scan can start at the position. */
export function afterPosition({ time }: SearchedTier, { at, id }: Position): Condition {
  return condition(`(r.${time}, r.id) < (?::timestamptz, ?::uuid)`, at, id);
}

export interface Search {
  q: string;
  /** Position of the last row of the previous page. */
  after?: Position | undefined;
  limit: number;
  project?: string | undefined;
}

/**
 * Returns a query of the rows that match a search, meet the conditions and come after a position: the latest `limit`
 * rows with the searched words (`matchCondition`), and rows about the same subject; those first, if the search is a
 * question. To find rows about a subject, looks among the rows that meet the conditions or, if those are too many, among
 * all rows of the account.
 */
export async function matchesOf(
  em: EntityManager,
  tier: SearchedTier,
  accountId: string,
  { q, after, limit, project }: Search,
  conditions: readonly Condition[],
): Promise<Condition> {
  const relevantRows = await rowsAbout(em, tier, accountId, { q, project }, joinConditions(conditions));
  const matchesWords = matchCondition(tier, q);
  const [matchRelevance, isMatch, isAbout] = isQuestion(q)
    ? [QUESTION_MATCH_RELEVANCE, notAmong(matchesWords, relevantRows), condition('true')]
    : [MATCH_RELEVANCE, matchesWords, condition(`(${matchesWords.sql}) is not true`, ...matchesWords.values)];
  const aboutConditions = [isAbout];
  const matchConditions = [isMatch];
  if (after !== undefined) {
    const place = `(a.relevance, r.${tier.time}, r.id) < (?::int, ?::timestamptz, ?::uuid)`;
    aboutConditions.push(condition(place, after.relevance, after.at, after.id));
    if (after.relevance === matchRelevance) matchConditions.push(afterPosition(tier, after));
    else if (after.relevance < matchRelevance) matchConditions.push(condition('false'));
  }
  const [matching, about] = [
    joinConditions([...conditions, ...matchConditions]),
    joinConditions([...conditions, ...aboutConditions]),
  ];
  return {
    sql: `(select r.*, ${matchRelevance} as relevance from ${tier.table} r where ${matching.sql}
            order by r.${tier.time} desc, r.id desc limit ?)
       union all
       select r.*, a.relevance from json_to_recordset(?::json) a (id uuid, relevance int)
         join ${tier.table} r on r.id = a.id where ${about.sql}`,
    values: [...matching.values, limit, JSON.stringify(relevantRows), ...about.values],
  };
}

interface RelevantRow {
  id: string;
  relevance: number;
}

const notAmong = ({ sql, values }: Condition, rows: readonly RelevantRow[]): Condition =>
  condition(`${sql} and r.id <> all (array[?]::uuid[])`, ...values, idsOf(rows));

async function rowsAbout(
  em: EntityManager,
  tier: SearchedTier,
  accountId: string,
  { q, project }: Pick<Search, 'q' | 'project'>,
  filter: Condition,
): Promise<RelevantRow[]> {
  const answers = await em.execute<(RelevantRow & Answer)[]>(
    `with chosen as materialized (
       select array(select r.id from ${tier.table} r where ${filter.sql}
                     order by r.${tier.time} desc limit context_count_max()) as ids
     )
     select a.id, a.relevance, left(${tier.text}, ${ANSWER_LENGTH_MAX}) as text,
            (extract(epoch from ${tier.said.at}) * 1000)::float8 as "saidMs", ${tier.said.from} as "from",
            ${tier.said.slot} as slot
       from chosen c
      cross join ${tier.about}(
        ?::uuid, '-infinity', ?, cardinality(c.ids),
        case when cardinality(c.ids) < context_count_max() then c.ids end,
       nullif(array[?]::text[], '{null}')) a
       join ${tier.table} r on r.id = a.id`,
    [...filter.values, accountId, q, project ?? null],
  );
  const relevances = relevancesAsAnswers(q, answers);
  return answers.map(({ id }, at) => ({
    id,
    relevance: Math.max(1, Math.ceil((relevances[at] ?? 0) * (MATCH_RELEVANCE - 1))),
  }));
}

/** Length of the beginning of a text that is compared with the question. */
const ANSWER_LENGTH_MAX = 2000;

/**
 * Condition for rows that contain the search text literally, or the stems of all its words, or a word similar to each
 * of its words. The cheapest check comes first.
 */
function matchCondition({ text, words }: SearchedTier, q: string): Condition {
  const searchWords = q.split(/\s+/u).filter(Boolean);
  const isSimilar = searchWords.map(() => `search_text(?) <% search_text(${text})`).join(' and ') || 'false';
  const sql = `(search_text(${text}) like '%' || ${LITERAL_PATTERN} || '%'
      or to_tsvector('english', search_terms(${words})) @@ plainto_tsquery('english', search_terms(?)) or (${isSimilar}))`;
  return condition(sql, q, q, ...searchWords);
}

/** Escapes the wildcards of `like` after `search_text`, which turns a full-width per cent sign into an ordinary one. */
const LITERAL_PATTERN = String.raw`regexp_replace(search_text(?), '([\\%_])', '\\\1', 'g')`;

function joinConditions(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => sql).join(' and '),
    values: conditions.flatMap(({ values }) => values),
  };
}
