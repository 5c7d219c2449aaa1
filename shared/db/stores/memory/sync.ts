import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { rawRowOf, type StoredEvent } from '../../../domain/event-rows.ts';
import { originFrom } from '../../../domain/witness.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newIds } from '../../../ids.ts';
import type { SyncRequest } from '../../../schemas/jobs.ts';
import { MIB } from '../../../schemas/limits.ts';
import { isNoDataFound } from '../../faults.ts';
import { arraysOf, oneRow } from '../../rows.ts';
import { query } from '../../statement.ts';
import type { Claim } from '../work/claim.ts';
import { ClaimLost } from '../work/progress.ts';
import { phrasesOfRows } from './phrases.ts';

/** Maximum number of events in one transaction. */
export const SYNC_PAGE_MAX = 200;
/** In bytes. A larger event is a page of its own. */
const PAGE_BYTES_MAX = 8 * MIB;

export interface SyncPage {
  session: string;
  events: { arrival: number; occurredMs: number; body: string; witness: string | null; reported: boolean }[];
  /** True if the session has no further events to sync. */
  last: boolean;
  /** Arrival number of the session's latest event; undefined if the request names a session or a time. */
  latest?: number;
}

export interface SyncCursor extends Pick<SyncPage, 'session' | 'last' | 'latest'> {
  arrival: number;
}

/** Returns the position after a page. The last page ends at `latest`, even if that event has been deleted. */
export function endOfPage({ session, events, last, latest }: SyncPage): SyncCursor {
  const arrival = events.at(-1)?.arrival ?? 0;
  return { session, arrival: last ? Math.max(arrival, latest ?? 0) : arrival, last, latest };
}

/**
 * Reads the next events that are not in memory yet, all of one session. Sessions come in the order in which their
 * latest events arrived. `after` is the end of the page before, which need not be stored yet.
 */
export async function readUnsyncedPage(
  em: EntityManager,
  accountId: string,
  size: number,
  after?: SyncCursor,
): Promise<SyncPage | undefined> {
  const from = after?.last === false ? after : await nextUnsynced(em, accountId, after);
  if (from === undefined) return undefined;
  const page = await readPage(em, accountId, from, size);
  const isWhole = (page.events.at(-1)?.arrival ?? 0) >= (from.latest ?? Number.POSITIVE_INFINITY);
  return { ...page, last: page.last || isWhole, latest: from.latest };
}

async function nextUnsynced(
  em: EntityManager,
  accountId: string,
  after: SyncCursor | undefined,
): Promise<Omit<SyncCursor, 'last'> | undefined> {
  const [next] = await em.execute<Omit<SyncCursor, 'last'>[]>(
    `select id as session, greatest(synced_arrival, case when id = ?::text then ?::bigint end)::float8 as arrival,
            last_arrival::float8 as latest
       from recording_sessions
      where account_id = ? and last_arrival > synced_arrival and last_arrival > ?
      order by last_arrival limit 1`,
    [after?.session ?? null, after?.arrival ?? null, accountId, after?.latest ?? 0],
  );
  return next;
}

/** Counts the sessions that a sync reads. With `since`, also counts sessions whose events are all older. */
export async function countSessionsToSync(
  em: EntityManager,
  accountId: string,
  { since, session_id }: SyncRequest,
): Promise<number> {
  const counted = em.execute<{ count: number }[]>(
    `select count(*)::int as count from recording_sessions
      where account_id = ? and id = coalesce(?::text, id) and (?::boolean or last_arrival > synced_arrival)`,
    [accountId, session_id ?? null, since !== undefined || session_id !== undefined],
  );
  return (await oneRow(counted)).count;
}

/** Reads the next events for a request that names a session or a time, including events that memory already has. */
export async function readChosenPage(
  em: EntityManager,
  accountId: string,
  request: SyncRequest,
  size: number,
  after?: SyncCursor,
): Promise<SyncPage | undefined> {
  if (after?.last === false) {
    const page = await readPage(em, accountId, after, size, request.since);
    if (page.events.length > 0) return page;
  }
  const session = await nextChosen(em, accountId, request, after?.session ?? '');
  return session === undefined
    ? undefined
    : readPage(em, accountId, { session, arrival: 0 }, size, request.since);
}

async function nextChosen(
  em: EntityManager,
  accountId: string,
  { since, session_id }: SyncRequest,
  after: string,
): Promise<string | undefined> {
  const [session] = await em.execute<{ id: string }[]>(
    `select s.id from recording_sessions s
      where s.account_id = ? and s.id > ? and s.id = coalesce(?::text, s.id)
        and exists (select from recording_events e
                     where e.session_id = s.id and e.account_id is not distinct from s.account_id
                       and e.occurred_at >= coalesce(?::timestamptz, '-infinity'))
      order by s.id limit 1`,
    [accountId, after, session_id ?? null, since ?? null],
  );
  return session?.id;
}

/**
 * Reads a session's events after an arrival number. The condition on the account uses `is not distinct from` to exclude
 * the index on the account: with old statistics, the planner would also read all events of the account in that index.
 */
async function readPage(
  em: EntityManager,
  accountId: string,
  { session, arrival }: Pick<SyncCursor, 'session' | 'arrival'>,
  size: number,
  since?: string,
): Promise<SyncPage> {
  const eventRows = await em.execute<(SyncPage['events'][number] & { found: number })[]>(
    `select arrival, "occurredMs", body, witness, reported, found
       from (select e.*, count(*) over ()::int as found, sum(e.size) over (order by e.arrival) - e.size as before
               from (select arrival::float8 as arrival, (extract(epoch from occurred_at) * 1000)::float8 as "occurredMs", body,
                            witness, reported,
                            octet_length(body) as size
                       from recording_events
                      where session_id = ? and arrival > ? and account_id is not distinct from ?
                        and occurred_at >= coalesce(?::timestamptz, '-infinity')
                      order by arrival limit ?) e) e
      where before = 0 or before + size <= ? order by arrival`,
    [session, arrival, accountId, since ?? null, size, PAGE_BYTES_MAX],
  );
  const isCut = eventRows.length < (eventRows[0]?.found ?? 0);
  const events = eventRows.map(({ found: _, ...event }) => event);
  return { session, events, last: !isCut && events.length < size };
}

export interface PreparedPage {
  page: SyncPage;
  parameters: unknown[];
}

/** Makes the raw rows of a page, one for each event that contains text, and their phrases. */
export function preparePage(page: SyncPage): PreparedPage {
  const ids = newIds(page.events.length);
  const events = page.events.map(({ body }) => JSON.parse(body) as StoredEvent);
  const rows = page.events.flatMap(({ witness, reported }, place) => {
    const event = events[place];
    if (event === undefined) return [];
    const raw = rawRowOf(event);
    if (raw === undefined) return [];
    const origin = originFrom(raw.origin, { vouches: !reported });
    return { ...raw, origin, witness, id: ids[place] ?? '', event_id: event.id };
  });
  // Sorted like the index on phrases, which makes the inserts faster.
  const phrases = phrasesOfRows(rows).sort(
    (a, b) => a.sample - b.sample || (a.words < b.words ? -1 : Number(a.words > b.words)),
  );
  const parameters = [
    page.session,
    page.latest === undefined ? null : endOfPage(page).arrival,
    ...arraysOf(rows, 'id', 'occurredAt'),
    JSON.stringify(rows),
    phrases.map(({ row }) => row + 1),
    ...arraysOf(phrases, 'sample', 'words', 'written', 'line', 'occasion'),
    events.some(({ type }) => type === 'session.started'),
  ];
  return { page, parameters };
}

const STORE_SYNC_PAGE = {
  name: 'sync_page_v1',
  text: `select created from sync_page_v1($1::uuid, $2::int, $3::uuid, $4::uuid, $5::json, $6::text, $7::bigint,
                                          $8::uuid[], $9::timestamptz[], $10::json, $11::int[], $12::int[], $13::text[],
                                          $14::text[], $15::int[], $16::int[], $17::boolean)`,
};

/**
 * Stores a page's raw rows and the progress of the sync in one transaction. Skips events whose raw row exists or was
 * deleted. Returns how many rows the sync has created so far. Throws `ClaimLost`, or `not_authenticated` if the account
 * is gone, disabled or being erased.
 */
export async function storeSyncPage(
  pool: Pool,
  { id, attempt, worker, party }: Pick<Claim, 'id' | 'attempt' | 'worker' | 'party'>,
  { parameters }: PreparedPage,
  progress: object,
): Promise<number> {
  try {
    const values = [id, attempt, worker, party, JSON.stringify(progress), ...parameters];
    const [stored] = await query<{ created: number }>(pool, STORE_SYNC_PAGE, values);
    if (stored === undefined) throw new AppError('not_authenticated');
    return stored.created;
  } catch (error) {
    throw isNoDataFound(error) ? new ClaimLost() : error;
  }
}
