import type { EntityManager } from '@mikro-orm/postgresql';
import type { FactSource } from '../../../domain/facts/source.ts';
import type { SourceRow } from '../../../domain/facts/statement.ts';
import { oneRow } from '../../rows.ts';
import { DERIVED_FROM } from './links.ts';

/** Maximum number of raw rows read for each source: the person's own rows before others, older before newer. */
const ROWS_PER_SOURCE_MAX = 100;
/** In code points; a person rarely types more. */
const CONTENT_LENGTH_MAX = 4000;

export type SourceId = Pick<FactSource, 'tier' | 'id'>;

/** `since` and `promotedBefore` apply to episodes only, not to facts that have lost their text. */
export interface SourceFilter {
  /** In RFC 3339; takes only episodes that ended then or later. */
  since: string | undefined;
  /** Also takes episodes that were promoted before this moment; undefined takes only those that never were. */
  promotedBefore: string | undefined;
  /** Leaves out sources that wait for a retry after a failed promotion. */
  settledOnly: boolean;
}

export type SourceToPromote = SourceId & { hasFailed: boolean };

/**
 * Lists at most `limit` sources for a promotion of facts: current facts that have lost their text, then episodes,
 * oldest first. Sources whose promotion has failed come last; stale episodes are left out.
 */
export async function factSources(
  em: EntityManager,
  accountId: string,
  { since, promotedBefore, settledOnly }: SourceFilter,
  limit: number,
): Promise<SourceToPromote[]> {
  const filterValues = [accountId, since ?? null, promotedBefore ?? null];
  return em.execute<SourceToPromote[]>(
    `select tier, id, failures > 0 as "hasFailed" from (${SOURCES_TO_PROMOTE}) s
      where not ? or coalesce(retry_at, now()) <= now()
      order by failures > 0, tier desc, case when failures > 0 then retry_at end, ended_at, id limit ?`,
    [accountId, ...filterValues, settledOnly, limit],
  );
}

export async function countSetAsideSources(
  em: EntityManager,
  accountId: string,
  { since, promotedBefore }: Omit<SourceFilter, 'settledOnly'>,
  limit: number,
): Promise<number> {
  const filterValues = [accountId, since ?? null, promotedBefore ?? null];
  const counted = em.execute<{ count: number }[]>(
    `select count(*)::int as count from (
       select from (${SOURCES_TO_PROMOTE}) s where retry_at > now() limit ?) r`,
    [accountId, ...filterValues, limit],
  );
  return (await oneRow(counted)).count;
}

const SOURCES_TO_PROMOTE = `
  select 'fact' as tier, f.id, null::timestamptz as ended_at, f.failures, f.retry_at from facts f
   where f.account_id = ? and f.stale_at is not null and f.revision_of is null and f.superseded_by is null
  union all
  select 'episode', e.id, e.ended_at, e.failures, e.retry_at from episodes e
   where e.account_id = ? and e.stale_at is null and e.ended_at >= coalesce(?::timestamptz, '-infinity')
     and (e.promoted_at is null or e.promoted_at < ?::timestamptz)`;

/** Reads these sources, in order, without those that are gone, stale episodes, and facts that have a text again. */
export async function sourcesOf(
  em: EntityManager,
  accountId: string,
  sourceIds: readonly SourceId[],
): Promise<FactSource[]> {
  if (sourceIds.length === 0) return [];
  const storedSources = await em.execute<StoredSource[]>(READ_SOURCES, [
    accountId,
    JSON.stringify(sourceIds),
    CONTENT_LENGTH_MAX,
    ROWS_PER_SOURCE_MAX,
  ]);
  return storedSources.map(({ rows, ...source }) => ({
    ...source,
    rows: rows.map(({ occurredMs, ...row }) => ({ ...row, occurredAt: new Date(occurredMs) })),
  }));
}

interface StoredSource extends Omit<FactSource, 'rows'> {
  rows: (Omit<SourceRow, 'occurredAt'> & { occurredMs: number })[];
}

/** Reads each source with the raw rows that it was derived from, directly or, for a fact, through its episodes. */
const READ_SOURCES = `
  with named as (
    select ?::uuid as account, n.*
      from rows from (json_to_recordset(?::json) as (tier text, id uuid)) with ordinality n (tier, id, place)
  ),
  derived as (
    select n.*, l.to_id, l.to_tier
      from named n join memory_links l on l.account_id = n.account and l.from_id = n.id and l.relation = '${DERIVED_FROM}'
  )
  select n.tier, n.id, coalesce(e.title, '') as title,
         case when n.tier = 'episode' then json_build_array(n.id) else coalesce((
           select json_agg(d.to_id order by d.to_id) from derived d where d.id = n.id and d.to_tier = 'episode'), '[]')
         end as "episodeIds",
         coalesce((select json_agg(r order by r."occurredMs", r.id) from (
           select r.id, left(r.content, ?) as content, r.role, r.origin,
                  (extract(epoch from r.occurred_at) * 1000)::float8 as "occurredMs"
             from raw_memories r
            where r.account_id = n.account and r.id in (
              select d.to_id from derived d where d.id = n.id and d.to_tier = 'raw'
              union all
              select l.to_id from derived d
                join memory_links l on l.account_id = n.account and l.from_id = d.to_id and l.relation = '${DERIVED_FROM}'
               where d.id = n.id and d.to_tier = 'episode')
            order by (r.role = 'human' and r.origin = 'human') desc nulls last, r.occurred_at, r.id limit ?) r), '[]') as rows
    from named n
    left join episodes e on n.tier = 'episode' and e.id = n.id and e.account_id = n.account and e.stale_at is null
    left join facts f on n.tier = 'fact' and f.id = n.id and f.account_id = n.account and f.stale_at is not null
   where e.id is not null or f.id is not null
   order by n.place`;
