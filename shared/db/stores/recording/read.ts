import type { EntityManager } from '@mikro-orm/postgresql';
import { RecordingSession } from '../../entities/recording.ts';

export interface EventRow {
  id: string;
  receivedAt: Date;
  /** Size of the body, in bytes. */
  size: number;
  /** JSON text, as in `RecordingEvent.body`; undefined if the caller's limits leave it out. */
  body: string | undefined;
}

/** Leaves out the body if it has more than `sizeMax` bytes; `readBodies` reads it whatever its size. */
export async function findEvent(
  em: EntityManager,
  accountId: string,
  id: string,
  sizeMax: number,
): Promise<EventRow | undefined> {
  const [row] = await em.execute<EventColumns[]>(
    `select e.id, octet_length(e.body) as size, case when octet_length(e.body) <= ? then e.body end as body,
            (extract(epoch from e.received_at) * 1000)::float8 as "receivedMs"
       from recording_events e where e.account_id = ? and e.id = ?`,
    [sizeMax, accountId, id],
  );
  return row && toEvent(row);
}

/** What is known of an event beside its body. */
export interface EventMark {
  eventId: string;
  /** The person deleted its row in memory. */
  forgotten: boolean;
  /** Nobody vouched for it. */
  reported: boolean;
}

/** Returns the marks of those events that have one. */
export function marksOf(em: EntityManager, accountId: string, ids: readonly string[]): Promise<EventMark[]> {
  return em.execute<EventMark[]>(
    `select * from (
       select e.id as "eventId", e.reported,
              exists (select from memory_tombstones t
                       where t.account_id = e.account_id and t.event_hash = event_hash(e.account_id, e.id)) as forgotten
         from recording_events e
        where e.account_id = ? and e.id in (select json_array_elements_text(?))) m
      where m.reported or m.forgotten`,
    [accountId, JSON.stringify(ids)],
  );
}

/** Returns bodies by the ids of their events, without those erased meanwhile. */
export async function readBodies(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await em.execute<{ id: string; body: string }[]>(
    'select id, body from recording_events where account_id = ? and id in (select json_array_elements_text(?))',
    [accountId, JSON.stringify(ids)],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}

export function latestSessions(
  em: EntityManager,
  accountId: string,
  limit: number,
): Promise<RecordingSession[]> {
  return em.find(RecordingSession, { accountId }, { orderBy: { lastArrival: 'desc' }, limit });
}

const TITLE_CHARS = 120;

/** What a session can be recognised by. */
export interface SessionHead {
  id: string;
  /** First words of the person. */
  title: string | null;
  /** Permissions that the person decided on; null if there is a title. */
  permissions: number | null;
}

export async function readSessionHeads(
  em: EntityManager,
  accountId: string,
  sessionIds: readonly string[],
): Promise<Map<string, SessionHead>> {
  const rows = await em.execute<SessionHead[]>(
    `select s.id, m.title,
            case when m.title is null then (
              select count(*)::int from recording_events
               where account_id = ? and session_id = s.id and type = 'agent.permission') end as permissions
       from json_array_elements_text(?) s (id) left join lateral (
         select left(content, ${TITLE_CHARS}) as title from raw_memories
          where account_id = ? and session_id = s.id and role = 'human' order by occurred_at, id limit 1) m on true`,
    [accountId, JSON.stringify(sessionIds), accountId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

interface OfSession {
  accountId: string;
  /** Undefined for the project of the session. */
  project?: string | null | undefined;
  sessionId: string | null;
}

/** Returns, for each item, its project: the given one, or else that of its recorded session. */
export async function projectsOf(em: EntityManager, items: readonly OfSession[]): Promise<(string | null)[]> {
  const ids = items.flatMap(({ project, sessionId }) => (project === undefined ? (sessionId ?? []) : []));
  const where = { id: { $in: [...new Set(ids)] }, project: { $ne: null } };
  const sessions = ids.length === 0 ? [] : await em.find(RecordingSession, where);
  const known = new Map(
    sessions.map(({ id, accountId, project }) => [`${accountId} ${id}`, project ?? null]),
  );
  return items.map(({ accountId, project, sessionId }) =>
    project === undefined ? (known.get(`${accountId} ${sessionId}`) ?? null) : project,
  );
}

/** Position of the last event of a page. The next page starts after it. */
export interface Cursor {
  /** Time of the last event, in Unix milliseconds. */
  occurredMs: number;
  arrival: number;
}

interface EventColumns {
  id: string;
  size: number;
  body: string | null;
  receivedMs: number;
}

function toEvent({ id, size, body, receivedMs }: EventColumns): EventRow {
  return { id, size, body: body ?? undefined, receivedAt: new Date(receivedMs) };
}

interface PageRow extends EventColumns, Cursor {
  more: boolean;
}

interface PageOptions {
  limit: number;
  /** Maximum total size of the events, in bytes. A larger event is a page of its own. */
  sizeMax: number;
  /** Maximum total size of the bodies that are read with the rows. The further ones are left out. */
  bodiesMax: number;
  /** Undefined to start with the first event. */
  after: Cursor | undefined;
}

/**
 * Reads a page of a session's events in order of time; events of the same time are in order of arrival. `readBodies`
 * reads the bodies that are left out.
 */
export async function pageOfEvents(
  em: EntityManager,
  { accountId, id }: RecordingSession,
  { limit, sizeMax, bodiesMax, after }: PageOptions,
): Promise<{ events: EventRow[]; next: Cursor | null }> {
  const { occurredMs, arrival } = after ?? { occurredMs: 0, arrival: 0 };
  const rows = await em.execute<PageRow[]>(
    `with found as (
       select e.id, e.body, e.received_at, e.occurred_at, e.arrival from recording_events e
        where e.account_id = ? and e.session_id = ?
          and (e.occurred_at, e.arrival) > (to_timestamp(?::float8 / 1000), ?::bigint)
        order by e.occurred_at, e.arrival limit ?
     ), measured as (
       select f.*, octet_length(f.body) as size, row_number() over by_age as place,
              sum(octet_length(f.body)) over by_age as together, lead(f.arrival) over by_age is not null as more
         from found f window by_age as (order by f.occurred_at, f.arrival)
     )
     select m.id, m.size, case when m.together <= ? then m.body end as body,
            (extract(epoch from m.received_at) * 1000)::float8 as "receivedMs",
            (extract(epoch from m.occurred_at) * 1000)::float8 as "occurredMs", m.arrival::float8 as arrival, m.more
       from measured m where m.place = 1 or (m.place <= ? and m.together <= ?)
      order by m.place`,
    [accountId, id, occurredMs, arrival, limit + 1, bodiesMax, limit, sizeMax],
  );
  const last = rows.at(-1);
  return {
    events: rows.map(toEvent),
    next: last?.more ? { occurredMs: last.occurredMs, arrival: last.arrival } : null,
  };
}
