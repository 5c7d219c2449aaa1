import type { EntityDictionary, EntityName } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { Episode } from '../../entities/memory/episode.ts';
import { Fact } from '../../entities/memory/fact.ts';
import { RawMemory } from '../../entities/memory/raw.ts';
import { isCancelled } from '../../faults.ts';
import { transaction } from '../../transaction.ts';
import { type Sourced, sourcesIn } from './links.ts';

/** Which rows of a tier to list, and from where on. */
export interface ListTerms {
  limit: number;
  /** Bytes of the rows together, as JSON. A row that is larger is a page of its own. */
  sizeMax: number;
  /** The last row of the previous page. */
  after?: Position | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  tag?: string | undefined;
  /** Words, part of a word, or words that are nearly these. */
  q?: string | undefined;
}

/** A row's place in its list, which it keeps while others come and go. */
export interface Position {
  at: Date;
  id: string;
}

/** Rows of a list, and whether there are others behind them. */
export interface Page<Row> {
  rows: Row[];
  more: boolean;
}

interface OfSession {
  sessionId?: string | undefined;
}

/** By when it happened, newest first. */
export async function listRaw(
  em: EntityManager,
  accountId: string,
  { sessionId, ...terms }: ListTerms & OfSession,
): Promise<Page<RawMemory>> {
  const ofSession = sessionId === undefined ? [] : [condition('r.session_id = ?', sessionId)];
  const { rows, more } = await findPage<RawMemory>(em, RAW, accountId, terms, ofSession);
  return { rows: rows.map(({ row }) => row), more };
}

/** By their end, newest first. An episode is of a session when one of its raw rows is. */
export function listEpisodes(
  em: EntityManager,
  accountId: string,
  { sessionId, ...terms }: ListTerms & OfSession,
): Promise<Page<Sourced<Episode>>> {
  const ofSession = sessionId === undefined ? [] : [condition(OF_SESSION, sessionId)];
  return findPage<Episode>(em, EPISODES, accountId, terms, ofSession);
}

const OF_SESSION = `exists (
  select from memory_links l join raw_memories s on s.id = l.to_id
   where l.account_id = r.account_id and l.from_id = r.id and s.session_id = ?)`;

/** By when they were first stated, newest first: the present wordings, or the former ones of one fact. */
export function listFacts(
  em: EntityManager,
  accountId: string,
  { revisionOf, ...terms }: ListTerms & { revisionOf?: string | undefined },
): Promise<Page<Sourced<Fact>>> {
  const wording =
    revisionOf === undefined
      ? condition('r.revision_of is null')
      : condition('r.revision_of = ?', revisionOf);
  return findPage<Fact>(em, FACTS, accountId, terms, [wording]);
}

interface ListedTier<Row> {
  entity: EntityName<Row>;
  table: string;
  time: string;
  /** The expression of the tier's search indexes. */
  text: string;
  /** The ids of what the row `f` is derived from, as JSON. */
  sources: string;
}

const RAW: ListedTier<RawMemory> = {
  entity: RawMemory,
  table: 'raw_memories',
  time: 'occurred_at',
  text: 'r.content',
  sources: `'[]'::json`,
};
const EPISODES: ListedTier<Episode> = {
  entity: Episode,
  table: 'episodes',
  time: 'ended_at',
  text: `(r.title || ' ' || r.summary)`,
  sources: sourcesIn('raw'),
};
const FACTS: ListedTier<Fact> = {
  entity: Fact,
  table: 'facts',
  time: 'created_at',
  text: 'r.text',
  sources: sourcesIn('episode'),
};

/** A part of a statement, about the row `r`. */
interface Condition {
  sql: string;
  values: unknown[];
}

/** How long a search may take. Each row that the indexes offer is compared with each word. */
const SEARCH_TIMEOUT_MS = 3000;

/** Throws `overloaded` for a search that takes too long. */
async function findPage<Row extends { id: string }>(
  em: EntityManager,
  tier: ListedTier<Row>,
  accountId: string,
  terms: ListTerms,
  conditions: Condition[],
): Promise<Page<Sourced<Row>>> {
  if (terms.q === undefined) return readPage(em, tier, accountId, terms, conditions);
  try {
    return await transaction(em, async (tx) => {
      await tx.execute(
        `set local statement_timeout = ${SEARCH_TIMEOUT_MS}; set local max_parallel_workers_per_gather = 0`,
      );
      return readPage(tx, tier, accountId, terms, conditions);
    });
  } catch (error) {
    if (!isCancelled(error)) throw error;
    throw new AppError('overloaded', { cause: error, explanation: TOO_LONG });
  }
}

const TOO_LONG =
  'The search takes too long: narrow it by since, until, tag or session_id, or search for fewer words.';

/** A page with the ids of its rows' sources, cut where its limit or its size is reached. One statement. */
async function readPage<Row extends { id: string }>(
  em: EntityManager,
  tier: ListedTier<Row>,
  accountId: string,
  terms: ListTerms,
  conditions: Condition[],
): Promise<Page<Sourced<Row>>> {
  const { limit, sizeMax } = terms;
  const chosen = [condition('r.account_id = ?', accountId), ...conditions, ...narrow(tier, terms)];
  const found = await em.execute<(Record<string, unknown> & { sources: string[]; more: boolean })[]>(
    `with found as materialized (
       select r.* from ${tier.table} r
        where ${chosen.map(({ sql }) => sql).join(' and ')}
        order by r.${tier.time} desc, r.id desc limit ?
     ), sourced as materialized (
       select f.*, ${tier.sources} as sources from found f
     ), measured as (
       select s.*, row_number() over by_age as place, lead(s.id) over by_age is not null as more,
              sum(octet_length(to_json(s)::text)) over by_age as together
         from sourced s window by_age as (order by s.${tier.time} desc, s.id desc)
     )
     select m.* from measured m where m.place = 1 or (m.place <= ? and m.together <= ?) order by m.place`,
    [...chosen.flatMap(({ values }) => values), limit + 1, limit, sizeMax],
  );
  const rows = found.map(({ sources, more, together, place, ...row }) => ({
    row: em.map(tier.entity, row as EntityDictionary<Row>),
    sources,
  }));
  return { rows, more: found.at(-1)?.more ?? false };
}

function narrow(
  { time, text }: Pick<ListedTier<unknown>, 'time' | 'text'>,
  { after, since, until, tag, q }: ListTerms,
): Condition[] {
  const conditions: Condition[] = [];
  if (since !== undefined) conditions.push(condition(`r.${time} >= ?`, since));
  if (until !== undefined) conditions.push(condition(`r.${time} < ?`, until));
  if (tag !== undefined) conditions.push(condition('r.tags @> array[?]::text[]', tag));
  if (q !== undefined) conditions.push(matching(text, q));
  if (after !== undefined)
    conditions.push(condition(`(r.${time}, r.id) < (?::timestamptz, ?::uuid)`, after.at, after.id));
  return conditions;
}

/**
 * Has the very characters, or all of the words, or something that is nearly each of the words. The cheapest to check comes
 * first.
 */
function matching(text: string, q: string): Condition {
  const words = q.split(/\s+/u).filter(Boolean);
  const stored = `search_text(${text})`;
  const nearly = words.map(() => `search_text(?) <% ${stored}`).join(' and ') || 'false';
  const sql = `(${stored} like '%' || ${VERBATIM} || '%'
      or to_tsvector('simple', ${stored}) @@ websearch_to_tsquery('simple', search_text(?)) or (${nearly}))`;
  return condition(sql, q, q, ...words);
}

/** A pattern of the very characters. Escaped last: the compatibility form of a full-width per cent sign is one. */
const VERBATIM = String.raw`regexp_replace(search_text(?), '([\\%_])', '\\\1', 'g')`;

function condition(sql: string, ...values: unknown[]): Condition {
  return { sql, values };
}
