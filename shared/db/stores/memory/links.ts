import type { EntityManager } from '@mikro-orm/postgresql';
import type { Faults } from '../../../domain/faults.ts';
import type { TIERS } from '../../../schemas/memory.ts';
import { MemoryLink } from '../../entities/memory.ts';

export type Tier = (typeof TIERS)[number];

export const DERIVED_FROM = 'derived_from';
/** A link of a fact that the person deleted, to the words that it came from: no fact is made of these again. */
export const FORGOTTEN = 'forgotten';

/** A derived row and the ids of the rows that it is derived from. */
export interface Sourced<Row extends { id: string }> {
  row: Row;
  sources: readonly string[];
}

/** The tables of the tiers that others are derived from. */
const SOURCE_TABLES = { raw: 'raw_memories', episode: 'episodes' } as const;
export type SourceTier = keyof typeof SOURCE_TABLES;

/** The links to read; all by default. */
interface LinkTerms {
  after?: Pick<MemoryLink, 'fromId' | 'toId'>;
  limit?: number;
}

/** The links of these rows to what they are derived from, in order. */
export async function linksOf(
  em: EntityManager,
  accountId: string,
  ids: string[],
  { after, limit }: LinkTerms = {},
): Promise<MemoryLink[]> {
  const behind = after && [
    { fromId: { $gt: after.fromId } },
    { fromId: after.fromId, toId: { $gt: after.toId } },
  ];
  return em.find(
    MemoryLink,
    { account: accountId, fromId: { $in: ids }, relation: DERIVED_FROM, ...(behind && { $or: behind }) },
    { orderBy: { fromId: 'asc', toId: 'asc' }, ...(limit !== undefined && { limit }) },
  );
}

/** The rows with the ids of their sources in a tier. */
export async function withSources<Row extends { id: string }>(
  em: EntityManager,
  accountId: string,
  tier: SourceTier,
  rows: Row[],
): Promise<Sourced<Row>[]> {
  if (rows.length === 0) return [];
  const found = await em.execute<{ id: string; sources: string[] }[]>(
    `select f.id, ${sourcesIn(tier)} as sources
       from (select ?::uuid as account_id, value::uuid as id from json_array_elements_text(?::json)) f`,
    [accountId, JSON.stringify(rows.map(({ id }) => id))],
  );
  const byRow = new Map(found.map(({ id, sources }) => [id, sources]));
  return rows.map((row) => ({ row, sources: byRow.get(row.id) ?? [] }));
}

/** The ids of what the row `f` is derived from, as one JSON array: an object for each of 75,000 links takes a second. */
export function sourcesIn(tier: SourceTier): string {
  return `to_json(array(
    select l.to_id from memory_links l
     where l.account_id = f.account_id and l.from_id = f.id and l.relation = '${DERIVED_FROM}' and l.to_tier = '${tier}'
     order by l.to_id))`;
}

/**
 * Reports the sources that the account does not have, of each row in its own list of faults. Sources of another account
 * look like ones that do not exist.
 */
export async function checkSources(
  tx: EntityManager,
  accountId: string,
  tier: SourceTier,
  rows: readonly { sources?: string[]; faults: Faults }[],
): Promise<void> {
  const named = rows.flatMap(({ sources = [] }) => sources);
  if (named.length === 0) return;
  const unknown = await tx.execute<{ id: string }[]>(
    `select distinct n.id from json_array_elements_text(?::json) n (id)
      where not exists (select from ${SOURCE_TABLES[tier]} s where s.id = n.id::uuid and s.account_id = ?)`,
    [JSON.stringify(named), accountId],
  );
  const missing = new Set(unknown.map(({ id }) => id));
  for (const { sources = [], faults } of rows)
    for (const [index, id] of sources.entries())
      if (missing.has(id)) faults.add([`${tier}_ids`, index], `Input should be the id of a row of the tier`);
}

/** Makes the rows of `from` derived from exactly these rows of the tier `to`; quotes of links that stay are kept. */
export async function setSources(
  tx: EntityManager,
  accountId: string,
  { from, to }: { from: Tier; to: SourceTier },
  rows: readonly Sourced<{ id: string }>[],
): Promise<void> {
  const wanted = JSON.stringify(
    rows.flatMap(({ row, sources }) => sources.map((source) => ({ from_id: row.id, to_id: source }))),
  );
  await tx.execute(
    `delete from memory_links l
      where l.account_id = ? and l.from_id in (select json_array_elements_text(?::json)::uuid)
        and l.relation = ? and l.to_tier = ?
        and (l.from_id, l.to_id) not in (select w.from_id, w.to_id from json_to_recordset(?::json) w (from_id uuid, to_id uuid))`,
    [accountId, JSON.stringify(rows.map(({ row }) => row.id)), DERIVED_FROM, to, wanted],
  );
  await tx.execute(
    `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier)
     select ?, w.from_id, w.to_id, ?, ?, ? from json_to_recordset(?::json) w (from_id uuid, to_id uuid)
     on conflict do nothing`,
    [accountId, DERIVED_FROM, from, to, wanted],
  );
}
