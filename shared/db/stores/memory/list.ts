import type { EntityDictionary, EntityName } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Episode, Fact, RawMemory } from '../../entities/memory.ts';
import { type RowWithSources, sourceIdsSql } from './links.ts';
import {
  afterPosition,
  type Condition,
  condition,
  matchesOf,
  type Position,
  runSearch,
  type SearchedTier,
  selectWhere,
} from './search.ts';

export interface ListOptions {
  limit: number;
  /** Maximum total size of the rows as JSON, in bytes. A larger row is a page of its own. */
  sizeMax: number;
  /** Position of the last row of the previous page. */
  after?: Position | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  tag?: string | undefined;
  project?: string | undefined;
  /** Text to search for. The most relevant rows come first. */
  q?: string | undefined;
}

export interface Page<Row> {
  rows: Row[];
  /** Undefined on the last page. */
  end?: Position | undefined;
}

interface SessionFilter {
  sessionId?: string | undefined;
}

/** Lists raw rows by the time at which they were said, newest first. */
export async function listRaw(
  em: EntityManager,
  accountId: string,
  { sessionId, ...options }: ListOptions & SessionFilter,
): Promise<Page<RawMemory>> {
  const ofSession = sessionId === undefined ? [] : [condition('r.session_id = ?', sessionId)];
  const { rows, end } = await findPage<RawMemory>(em, RAW_TIER, accountId, options, ofSession);
  return { rows: rows.map(({ row }) => row), end };
}

/** Lists episodes by their end, newest first. An episode belongs to a session if one of its raw rows does. */
export function listEpisodes(
  em: EntityManager,
  accountId: string,
  { sessionId, ...options }: ListOptions & SessionFilter,
): Promise<Page<RowWithSources<Episode>>> {
  const ofSession = sessionId === undefined ? [] : [condition(EPISODE_IS_OF_SESSION, sessionId)];
  return findPage<Episode>(em, EPISODE_TIER, accountId, options, ofSession);
}

const EPISODE_IS_OF_SESSION = `exists (
  select from memory_links l join raw_memories s on s.id = l.to_id
   where l.account_id = r.account_id and l.from_id = r.id
     and s.account_id = r.account_id and s.session_id = ?)`;

interface FactFilter {
  revisionOf?: string | undefined;
  supersededBy?: string | undefined;
  pinned?: boolean | undefined;
}

/**
 * Lists the present wordings of facts, newest first. With `supersededBy`, lists only the facts that this fact
 * superseded; with `revisionOf`, lists the former wordings of this fact instead.
 */
export function listFacts(
  em: EntityManager,
  accountId: string,
  { revisionOf, supersededBy, pinned, ...options }: ListOptions & FactFilter,
): Promise<Page<RowWithSources<Fact>>> {
  const wording =
    revisionOf === undefined
      ? condition('r.revision_of is null')
      : condition('r.superseded_by = ? and r.revision_of = r.superseded_by', revisionOf);
  const ofSuccessor = supersededBy === undefined ? [] : [condition('r.superseded_by = ?', supersededBy)];
  const ofPin = pinned === undefined ? [] : [condition('r.pinned = ?', pinned)];
  return findPage<Fact>(em, FACT_TIER, accountId, options, [wording, ...ofSuccessor, ...ofPin]);
}

interface ListedTier<Row> extends SearchedTier {
  entity: EntityName<Row>;
  /** SQL for the ids of the sources of row `f`, as a JSON array. */
  sources: string;
}

const RAW_TIER: ListedTier<RawMemory> = {
  entity: RawMemory,
  table: 'raw_memories',
  time: 'occurred_at',
  text: 'r.content',
  words: `coalesce(r.agent || ' ', '') || r.content`,
  about: 'raw_about_v1',
  said: {
    at: 'r.occurred_at',
    from: `case when r.role = 'human' and r.origin = 'human' then 'person' else 'others' end`,
    slot: 'null',
  },
  sources: `'[]'::json`,
};
const EPISODE_TIER: ListedTier<Episode> = {
  entity: Episode,
  table: 'episodes',
  time: 'ended_at',
  text: `r.title || ' ' || r.summary`,
  words: `r.title || ' ' || r.summary`,
  about: 'episodes_about_v1',
  said: { at: 'r.ended_at', from: `'others'`, slot: 'null' },
  sources: sourceIdsSql('raw'),
};
const FACT_TIER: ListedTier<Fact> = {
  entity: Fact,
  table: 'facts',
  time: 'created_at',
  text: 'r.text',
  words: 'r.text',
  about: 'facts_about_v1',
  said: { at: 'coalesce(r.valid_from, r.recorded_at)', from: `'fact'`, slot: 'r.slot' },
  sources: sourceIdsSql('episode'),
};

/** Throws `overloaded` if a search takes too long. */
async function findPage<Row extends { id: string }>(
  em: EntityManager,
  tier: ListedTier<Row>,
  accountId: string,
  { q, ...options }: ListOptions,
  conditions: Condition[],
): Promise<Page<RowWithSources<Row>>> {
  const allConditions = [
    condition('r.account_id = ?', accountId),
    ...conditions,
    ...conditionsOf(tier, options),
  ];
  const { after, limit, project } = options;
  if (q === undefined) {
    if (after) allConditions.push(afterPosition(tier, after));
    return readPage(em, tier, selectWhere(tier, allConditions), options);
  }
  return runSearch(em, async (tx) => {
    const matches = await matchesOf(
      tx,
      tier,
      accountId,
      { q, after, limit: limit + 1, project },
      allConditions,
    );
    return readPage(tx, tier, matches, options);
  });
}

async function readPage<Row extends { id: string }>(
  em: EntityManager,
  tier: ListedTier<Row>,
  matches: Condition,
  { limit, sizeMax }: ListOptions,
): Promise<Page<RowWithSources<Row>>> {
  const listedRows = await em.execute<ListedRow[]>(
    `with found as materialized (
       select r.* from (${matches.sql}) r
        order by r.relevance desc, r.${tier.time} desc, r.id desc limit ?
     ), sourced as materialized (
       select f.*, ${tier.sources} as sources from found f
     ), measured as (
       select s.*, row_number() over by_place as place, lead(s.id) over by_place is not null as more,
              sum(octet_length(to_json(s)::text)) over by_place as together
         from sourced s window by_place as (order by s.relevance desc, s.${tier.time} desc, s.id desc)
     )
     select m.*, (extract(epoch from m.${tier.time}) * 1000)::float8 as at from measured m
      where m.place = 1 or (m.place <= ? and m.together <= ?) order by m.place`,
    [...matches.values, limit + 1, limit, sizeMax],
  );
  const rows = listedRows.map(({ sources, more, together, place: _, relevance, at, ...row }) => ({
    row: em.map(tier.entity, row as Record<string, unknown> as EntityDictionary<Row>),
    sources,
  }));
  const last = listedRows.at(-1);
  return { rows, end: last?.more ? { ...last, at: new Date(last.at) } : undefined };
}

interface ListedRow extends Record<string, unknown> {
  id: string;
  /** Unix milliseconds. */
  at: number;
  relevance: number;
  sources: string[];
  more: boolean;
}

function conditionsOf({ time }: SearchedTier, { since, until, tag, project }: ListOptions): Condition[] {
  const conditions: Condition[] = [];
  if (since !== undefined) conditions.push(condition(`r.${time} >= ?`, since));
  if (until !== undefined) conditions.push(condition(`r.${time} < ?`, until));
  if (tag !== undefined) conditions.push(condition('r.tags @> array[?]::text[]', tag));
  if (project !== undefined) conditions.push(condition('r.project = ?', project));
  return conditions;
}
