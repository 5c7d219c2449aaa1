import type { EntityManager } from '@mikro-orm/postgresql';
import type { RawToPromote } from '../../../domain/episodes.ts';
import { LOWEST_ID } from '../../../ids.ts';
import { oneRow } from '../../rows.ts';

export interface RowFilter {
  /** In RFC 3339; takes only rows that occurred then or later. */
  since: string | undefined;
  limit: number;
  /** Also takes rows that were promoted before this moment. */
  promotedBefore: string | undefined;
  /**
   * Leaves out rows that wait for a retry after a failed promotion. A promotion then also leaves out clusters of rows
   * that may still grow.
   */
  settledOnly: boolean;
}

interface RowWindow extends RowFilter {
  /** Takes rows whose promotion has failed before, or else the other rows. */
  hasFailed: boolean;
  /** Takes only rows after this one in order of time; undefined for the first window. */
  after: Pick<RowToPromote, 'occurredAt' | 'id'> | undefined;
}

/** `version` changes when a client changes the episode, or when its text is erased or written. */
export interface EpisodeVersion {
  id: string;
  version: string;
  /** True if its text was erased. */
  isStale: boolean;
}

/** A raw row. `episode` may be rewritten from it; `isSummarised` says whether the row belongs to any episode. */
export type RowToPromote = RawToPromote & {
  episode: EpisodeVersion | null;
  isSummarised: boolean;
  hasFailed: boolean;
};

interface StoredRow extends Omit<RawToPromote, 'occurredAt'> {
  occurredMs: number;
}

const ROW_COLUMNS = `r.id, r.session_id as "sessionId", r.project, (extract(epoch from r.occurred_at) * 1000)::float8 as "occurredMs",
  r.content, r.role, r.origin, r.agent, r.role = 'human' and r.origin = 'human' as "isHuman"`;

/** Condition for draft episodes that a promotion wrote. Other episodes are rewritten only once stale. */
const IS_REWRITABLE = `e.origin in ('model', 'extractive') and e.status = 'draft'`;

const VERSION_COLUMNS = `e.id, extract(epoch from e.updated_at)::text as version, e.stale_at is not null as "isStale"`;

/** Reads the database's clock, in the format of `promotedBefore`. */
export async function databaseNowText(em: EntityManager): Promise<string> {
  const statement = `select date_trunc('milliseconds', now())::text as now`;
  return (await oneRow(em.execute<{ now: string }[]>(statement))).now;
}

const IS_TO_PROMOTE = `r.account_id = ? and r.occurred_at >= coalesce(?::timestamptz, '-infinity')
  and (r.promoted_at is null or r.promoted_at < ?::timestamptz)`;

/** Reads the next rows that match the filter, oldest first. */
export async function rowsToPromote(
  em: EntityManager,
  accountId: string,
  { since, limit, promotedBefore, settledOnly, hasFailed, after }: RowWindow,
): Promise<RowToPromote[]> {
  const filterValues = [accountId, since ?? null, promotedBefore ?? null];
  const afterValues = [after?.occurredAt.toISOString() ?? '-infinity', after?.id ?? LOWEST_ID];
  const rows = await em.execute<(StoredRow & Omit<RowToPromote, keyof RawToPromote>)[]>(
    `with found as (
       select r.* from raw_memories r
        where ${IS_TO_PROMOTE} and r.failures ${hasFailed ? '> 0' : '= 0'}
          and (not ? or coalesce(r.retry_at, now()) <= now()) and (r.occurred_at, r.id) > (?::timestamptz, ?::uuid)
        order by r.occurred_at, r.id limit ?
     )
     select ${ROW_COLUMNS}, to_json(e) as episode, r.failures > 0 as "hasFailed",
            exists (select from memory_links l
                     where l.account_id = r.account_id and l.to_id = r.id and l.from_tier = 'episode') as "isSummarised"
       from found r
       left join lateral (
         select ${VERSION_COLUMNS} from memory_links l join episodes e on e.id = l.from_id
          where ?::text is not null and l.account_id = r.account_id and l.to_id = r.id and ${IS_REWRITABLE}
          order by e.id limit 1) e on true
      order by r.occurred_at, r.id`,
    [...filterValues, settledOnly, ...afterValues, limit, promotedBefore ?? null],
  );
  return rows.map(({ episode, isSummarised, hasFailed, ...row }) => ({
    ...toRow(row),
    episode,
    isSummarised,
    hasFailed,
  }));
}

export async function countSetAside(
  em: EntityManager,
  accountId: string,
  { since, limit, promotedBefore }: Omit<RowFilter, 'settledOnly'>,
): Promise<number> {
  const counted = em.execute<{ count: number }[]>(
    `select count(*)::int as count from (
       select from raw_memories r where ${IS_TO_PROMOTE} and r.failures > 0 and r.retry_at > now() limit ?) r`,
    [accountId, since ?? null, promotedBefore ?? null, limit],
  );
  return (await oneRow(counted)).count;
}

/** Reads stale episodes, longest stale first. Episodes whose promotion has failed before come last. */
export async function staleEpisodes(
  em: EntityManager,
  accountId: string,
  { limit, settledOnly }: Pick<RowFilter, 'limit' | 'settledOnly'>,
): Promise<(EpisodeVersion & { hasFailed: boolean })[]> {
  return em.execute(
    `select ${VERSION_COLUMNS}, e.failures > 0 as "hasFailed" from episodes e
      where e.account_id = ? and e.stale_at is not null and (not ? or coalesce(e.retry_at, now()) <= now())
      order by "hasFailed", e.stale_at, e.id limit ?`,
    [accountId, settledOnly, limit],
  );
}

export async function readSourceRows(
  em: EntityManager,
  accountId: string,
  episodeId: string,
): Promise<RawToPromote[]> {
  const rows = await em.execute<StoredRow[]>(
    `select ${ROW_COLUMNS} from memory_links l join raw_memories r on r.id = l.to_id
      where l.account_id = ? and l.from_id = ? and l.to_tier = 'raw' and l.relation = 'derived_from'
      order by r.occurred_at, r.id`,
    [accountId, episodeId],
  );
  return rows.map(toRow);
}

function toRow({ occurredMs, ...row }: StoredRow): RawToPromote {
  return { ...row, isHuman: row.isHuman === true, occurredAt: new Date(occurredMs) };
}
