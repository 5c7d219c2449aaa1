import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { ACCESS_CURSOR, type AccessListQuery, type ReadTier } from '../../schemas/accesses.ts';
import { AccessDay } from '../entities/access.ts';
import { arraysOf } from '../rows.ts';
import { query } from '../statement.ts';

/** Who reads of an account: a log-in, a connection of an app, or a key or grant, which share one number range. */
export interface ReadingParty {
  accountId: string;
  reader: 'log_in' | 'key' | 'app';
  /** Id of the key, the grant or the connection; of the account for its log-ins. */
  readerId: string;
}

export interface ReadCount extends ReadingParty {
  tier: ReadTier;
  reads: number;
  rows: number;
}

/** Adds rows in key order, so that processes that lock the same rows cannot deadlock. Skips what is being erased. */
const ADD_READS = {
  name: 'add_reads_v1',
  text: `
    insert into access_days as d (account_id, day, reader_id, tier, reader, name, reads, rows, last_at)
    select a.id, (now() at time zone 'UTC')::date, u.reader_id, u.tier,
           case when g.id is null then u.reader else 'grant' end,
           coalesce(k.label, g.client_name, p.name, ''), u.reads, u.rows, now()
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[])
             as u (account_id, reader, reader_id, tier, reads, rows)
      join accounts a on a.id = u.account_id and a.erasing_at is null
      left join service_keys k on k.id = u.reader_id and k.account_id = a.id
      left join grants g on g.id = u.reader_id and g.account_id = a.id
      left join connections c on c.id = u.reader_id and u.reader = 'app'
      left join apps p on p.id = c.app_id
     order by a.id, u.reader_id, u.tier
       for key share of a
    on conflict (account_id, day, reader_id, tier) do update
       set reads = d.reads + excluded.reads, rows = d.rows + excluded.rows, last_at = excluded.last_at,
           name = coalesce(nullif(excluded.name, ''), d.name)`,
};

/** After this time, the statement fails and is not retried: its counts may have been added. */
const ADD_TIMEOUT_MS = 2000;

export async function addReads(pool: Pool, counts: readonly ReadCount[]): Promise<void> {
  const columns = arraysOf(counts, 'accountId', 'reader', 'readerId', 'tier', 'reads', 'rows');
  await query(pool, ADD_READS, columns, { withinMs: ADD_TIMEOUT_MS });
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Nothing was read before. PostgreSQL knows no year 0. */
const EARLIEST_DAY = '2000-01-01';

/** Returns what leads to the rows after this one. */
export function accessCursor({ day, readerId, tier }: AccessDay): string {
  return `${Date.parse(day) / DAY_MS}.${readerId}.${tier}`;
}

/** The latest day first. */
export function listAccesses(
  em: EntityManager,
  accountId: string,
  { reader_id: readerId, tier, since = EARLIEST_DAY, until, limit, cursor }: AccessListQuery,
): Promise<AccessDay[]> {
  const [, lastDay, lastReader = '', lastTier = ''] = ACCESS_CURSOR.exec(cursor ?? '') ?? [];
  const latest = (day: string) => (day < EARLIEST_DAY ? EARLIEST_DAY : day);
  const conditions = [
    { day: { $gte: latest(since) } },
    ...(until === undefined ? [] : [{ day: { $lte: latest(until) } }]),
    ...(readerId === undefined ? [] : [{ readerId }]),
    ...(tier === undefined ? [] : [{ tier }]),
    ...(lastDay === undefined
      ? []
      : [beyond(new Date(Number(lastDay) * DAY_MS).toISOString().slice(0, 10), lastReader, lastTier)]),
  ];
  return em.find(
    AccessDay,
    { account: accountId, $and: conditions },
    { orderBy: { day: 'desc', readerId: 'asc', tier: 'asc' }, limit },
  );
}

function beyond(day: string, readerId: string, tier: string) {
  return {
    $or: [
      { day: { $lt: day } },
      { day, readerId: { $gt: readerId } },
      { day, readerId, tier: { $gt: tier as ReadTier } },
    ],
  };
}
