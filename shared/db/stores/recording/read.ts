import type { EntityManager } from '@mikro-orm/postgresql';
import { RecordingEvent, RecordingSession } from '../../entities/recording.ts';

/** Characters of events in one page: its limit counts events, whatever their size. */
const PAGE_SIZE_MAX = 16 * 1024 * 1024;

/** One of the account's events; undefined when it has none of that id. */
export async function findEvent(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<RecordingEvent | undefined> {
  return (await em.findOne(RecordingEvent, { accountId, id })) ?? undefined;
}

/** The account's latest sessions, by the arrival of their last event, the latest first. */
export function latestSessions(
  em: EntityManager,
  accountId: string,
  limit: number,
): Promise<RecordingSession[]> {
  return em.find(RecordingSession, { accountId }, { orderBy: { lastArrival: 'desc' }, limit });
}

/** The account's session of that id. */
export async function findSession(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<RecordingSession | undefined> {
  return (await em.findOne(RecordingSession, { accountId, id })) ?? undefined;
}

/** Where a page ended: the next one starts after it, whatever has been stored since. */
export interface Cursor {
  /** Of the last event's time, in milliseconds since 1970. */
  occurredMs: number;
  arrival: number;
}

interface PageRow extends Cursor {
  body: string;
  receivedMs: number;
  more: boolean;
}

/**
 * A session's events, the oldest first, those of one moment by their arrival. At most `limit`, and fewer when they are
 * large. `next` is null when these are the last.
 */
export async function pageOfEvents(
  em: EntityManager,
  { accountId, id }: RecordingSession,
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<{ events: Pick<RecordingEvent, 'body' | 'receivedAt'>[]; next: Cursor | null }> {
  const { occurredMs, arrival } = after ?? { occurredMs: 0, arrival: 0 };
  const rows = await em.execute<PageRow[]>(
    `with found as (
       select e.body, e.received_at, e.occurred_at, e.arrival from recording_events e
        where e.account_id = ? and e.session_id = ?
          and (e.occurred_at, e.arrival) > (to_timestamp(?::float8 / 1000), ?::bigint)
        order by e.occurred_at, e.arrival limit ?
     ), measured as (
       select f.*, row_number() over by_age as place, sum(octet_length(f.body)) over by_age as size,
              lead(f.arrival) over by_age is not null as more
         from found f window by_age as (order by f.occurred_at, f.arrival)
     )
     select m.body, (extract(epoch from m.received_at) * 1000)::float8 as "receivedMs",
            (extract(epoch from m.occurred_at) * 1000)::float8 as "occurredMs", m.arrival::float8 as arrival, m.more
       from measured m where m.place = 1 or (m.place <= ? and m.size <= ?)
      order by m.place`,
    [accountId, id, occurredMs, arrival, limit + 1, limit, PAGE_SIZE_MAX],
  );
  const last = rows.at(-1);
  return {
    events: rows.map(({ body, receivedMs }) => ({ body, receivedAt: new Date(receivedMs) })),
    next: last?.more ? { occurredMs: last.occurredMs, arrival: last.arrival } : null,
  };
}
