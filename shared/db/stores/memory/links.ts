import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Faults } from '../../../domain/faults.ts';
import { idsOf } from '../../../ids.ts';
import type { TIERS } from '../../../schemas/memory.ts';
import { type Fact, MemoryLink } from '../../entities/memory.ts';
import { insertNew } from '../../rows.ts';
import { inPages } from '../../steps.ts';

export type Tier = (typeof TIERS)[number];

export const DERIVED_FROM = 'derived_from';
/** Relation of a deleted fact to a raw row that it quoted. No fact is made from the quoted words again. */
export const FORGOTTEN = 'forgotten';

export interface RowWithSources<Row extends { id: string }> {
  row: Row;
  sources: readonly string[];
}

const SOURCE_TABLES = { raw: 'raw_memories', episode: 'episodes' } as const;
export type SourceTier = keyof typeof SOURCE_TABLES;

export interface LinkRange {
  after?: Pick<MemoryLink, 'fromId' | 'toId'>;
  limit?: number;
}

/** Reads the links of these rows to their sources, ordered by row and source. */
export function linksOf(
  em: EntityManager,
  accountId: string,
  ids: string[],
  range: LinkRange = {},
): Promise<MemoryLink[]> {
  return findLinks(em, { account: accountId, fromId: { $in: ids }, relation: DERIVED_FROM }, range);
}

/** Reads what remains of the facts that the person deleted. */
export function forgottenLinks(
  em: EntityManager,
  accountId: string,
  range: LinkRange,
): Promise<MemoryLink[]> {
  return findLinks(em, { account: accountId, relation: FORGOTTEN }, range);
}

function findLinks(em: EntityManager, where: FilterQuery<MemoryLink>, { after, limit }: LinkRange) {
  const afterCondition = after && {
    $or: [{ fromId: { $gt: after.fromId } }, { fromId: after.fromId, toId: { $gt: after.toId } }],
  };
  return em.find(
    MemoryLink,
    { $and: [where, afterCondition ?? {}] },
    { orderBy: { fromId: 'asc', toId: 'asc' }, ...(limit !== undefined && { limit }) },
  );
}

export async function withSources<Row extends { id: string }>(
  em: EntityManager,
  accountId: string,
  tier: SourceTier,
  rows: Row[],
): Promise<RowWithSources<Row>[]> {
  if (rows.length === 0) return [];
  const sourceRows = await em.execute<{ id: string; sources: string[] }[]>(
    `select f.id, ${sourceIdsSql(tier)} as sources
       from (select ?::uuid as account_id, id from unnest(array[?]::uuid[]) id) f`,
    [accountId, idsOf(rows)],
  );
  const byRow = new Map(sourceRows.map(({ id, sources }) => [id, sources]));
  return rows.map((row) => ({ row, sources: byRow.get(row.id) ?? [] }));
}

/** Returns SQL for the source ids of row `f` as one JSON array: 75,000 links as objects would take a second. */
export function sourceIdsSql(tier: SourceTier): string {
  return `to_json(array(
    select l.to_id from memory_links l
     where l.account_id = f.account_id and l.from_id = f.id and l.relation = '${DERIVED_FROM}' and l.to_tier = '${tier}'
     order by l.to_id))`;
}

/**
 * Adds an error to the faults of a row for each source that the account does not have. A source of another account
 * gives the same error as one that does not exist.
 */
export async function checkSources(
  tx: EntityManager,
  accountId: string,
  tier: SourceTier,
  rows: readonly { sources?: string[]; faults: Faults }[],
): Promise<void> {
  const sourceIds = rows.flatMap(({ sources = [] }) => sources);
  if (sourceIds.length === 0) return;
  const unknownRows = await tx.execute<{ id: string }[]>(
    `select distinct n.id from unnest(array[?]::text[]) n (id)
      where not exists (select from ${SOURCE_TABLES[tier]} s where s.id = n.id::uuid and s.account_id = ?)`,
    [sourceIds, accountId],
  );
  const missingIds = new Set(unknownRows.map(({ id }) => id));
  for (const { sources = [], faults } of rows)
    for (const [index, id] of sources.entries())
      if (missingIds.has(id))
        faults.add([`${tier}_ids`, index], `Input should be the id of a row of the tier`);
}

/** Bounds the time that making a statement takes: a request may have 50,000 links. */
const LINKS_AT_ONCE = 1000;

/** Replaces the sources in tier `to` of rows in tier `from`. Links that stay keep their quotes. */
export async function setSources(
  tx: EntityManager,
  accountId: string,
  { from, to }: { from: Tier; to: SourceTier },
  rows: readonly RowWithSources<{ id: string }>[],
): Promise<void> {
  const links = rows.flatMap(({ row, sources }) => sources.map((toId) => ({ fromId: row.id, toId })));
  await tx.execute(
    `delete from memory_links l
      where l.account_id = ? and l.from_id = any (array[?]::uuid[])
        and l.relation = ? and l.to_tier = ?
        and (l.from_id, l.to_id) not in (select w."fromId", w."toId" from json_to_recordset(?::json) w ("fromId" uuid, "toId" uuid))`,
    [accountId, rows.map(({ row }) => row.id), DERIVED_FROM, to, JSON.stringify(links)],
  );
  const kind = { account: accountId, relation: DERIVED_FROM, fromTier: from, toTier: to };
  for (const page of inPages(links, LINKS_AT_ONCE)) {
    const ofKind = page.map((link) => ({ ...kind, ...link }));
    await insertNew(tx, MemoryLink, ofKind);
  }
}

/** Returns SQL for the project that all episodes of a fact have in common; null if there is none. */
export function commonProjectSql(factId: string): string {
  return `(select min(e.project) from memory_links l join episodes e on e.id = l.to_id
            where l.account_id = ? and l.from_id = ${factId}
              and l.relation = '${DERIVED_FROM}' and l.to_tier = 'episode'
           having count(distinct e.project) = 1 and count(e.project) = count(*))`;
}

export async function setProjects(
  tx: EntityManager,
  accountId: string,
  facts: readonly RowWithSources<Fact>[],
): Promise<void> {
  const common = await tx.execute<{ id: string; project: string | null }[]>(
    `select f.id, ${commonProjectSql('f.id')} as project from unnest(array[?]::uuid[]) f (id)`,
    [accountId, facts.map(({ row }) => row.id)],
  );
  const projects = new Map(common.map(({ id, project }) => [id, project]));
  for (const { row } of facts) row.project = projects.get(row.id) ?? null;
  await tx.flush();
}
