import type { EntityManager } from '@mikro-orm/postgresql';
import type { RawValues } from '../../../domain/memory-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newIds } from '../../../ids.ts';
import type { SyncRequest } from '../../../schemas/jobs.ts';
import { MESSAGE_ORIGINS, MIB } from '../../../schemas/limits.ts';
import { CONTENT_MAX } from '../../../schemas/memory.ts';
import { truncateMiddle } from '../../../text/cut.ts';
import { transaction } from '../../transaction.ts';
import { storePhrases } from './phrases.ts';

/** Maximum number of events in one transaction. */
export const SYNC_PAGE_MAX = 200;
/** Maximum total size of these events, in bytes. A larger event is a page of its own. */
const PAGE_SIZE_MAX = 8 * MIB;

/** Events of one session, in the order of their arrival. */
export interface SyncPage {
  session: string;
  events: { arrival: number; occurredMs: number; body: string }[];
  /** True if the session has no further events to sync. */
  last: boolean;
  /**
   * Arrival up to which memory has all of the session's events once the page is stored; undefined if the sync takes
   * only chosen events.
   */
  syncedTo?: number;
}

/** The event after which a sync of chosen events continues. */
export interface SyncCursor {
  session: string;
  arrival: number;
}

/**
 * Reads the next events that memory has not taken in, from the session whose latest event is the oldest; undefined when
 * there are none.
 */
export async function readUnsyncedPage(
  em: EntityManager,
  accountId: string,
  size: number,
): Promise<SyncPage | undefined> {
  const [session] = await em.execute<{ id: string; from: number; to: number }[]>(
    `select id, synced_arrival::float8 as from, last_arrival::float8 as to from recording_sessions
      where account_id = ? and last_arrival > synced_arrival order by last_arrival limit 1`,
    [accountId],
  );
  if (session === undefined) return undefined;
  const page = await readPage(em, accountId, { session: session.id, arrival: session.from }, size);
  // The session's latest event may have been deleted, so the last page goes up to `to`, not to its last event.
  return { ...page, syncedTo: page.last ? session.to : (page.events.at(-1)?.arrival ?? session.to) };
}

/** Counts the account's sessions that a sync looks at. */
export async function sessionsToSync(
  em: EntityManager,
  accountId: string,
  { since, session_id }: SyncRequest,
): Promise<number> {
  const [{ count } = { count: 0 }] = await em.execute<{ count: number }[]>(
    `select count(*)::int as count from recording_sessions
      where account_id = ? and id = coalesce(?::text, id) and (?::boolean or last_arrival > synced_arrival)`,
    [accountId, session_id ?? null, since !== undefined || session_id !== undefined],
  );
  return count;
}

/** Reads the next of the events that a request chooses, whether or not memory has already taken them in. */
export async function readChosenPage(
  em: EntityManager,
  accountId: string,
  { since, session_id }: SyncRequest,
  after: SyncCursor | undefined,
  size: number,
): Promise<SyncPage | undefined> {
  for (let cursor = after; ; ) {
    const session = cursor?.session ?? (await nextSession(em, accountId, '', session_id));
    if (session === undefined) return undefined;
    const page = await readPage(em, accountId, { session, arrival: cursor?.arrival ?? 0 }, size, since);
    if (page.events.length > 0) return page;
    const next = await nextSession(em, accountId, session, session_id);
    if (next === undefined) return undefined;
    cursor = { session: next, arrival: 0 };
  }
}

async function nextSession(
  em: EntityManager,
  accountId: string,
  after: string,
  only: string | undefined,
): Promise<string | undefined> {
  const [session] = await em.execute<{ id: string }[]>(
    `select id from recording_sessions
      where account_id = ? and id > ? and id = coalesce(?::text, id) order by id limit 1`,
    [accountId, after, only ?? null],
  );
  return session?.id;
}

async function readPage(
  em: EntityManager,
  accountId: string,
  { session, arrival }: SyncCursor,
  size: number,
  since?: string,
): Promise<SyncPage> {
  const found = await em.execute<(SyncPage['events'][number] & { found: number })[]>(
    `select arrival, "occurredMs", body, found
       from (select e.*, count(*) over ()::int as found, sum(e.size) over (order by e.arrival) - e.size as before
               from (select arrival::float8 as arrival, (extract(epoch from occurred_at) * 1000)::float8 as "occurredMs", body,
                            octet_length(body) as size
                       from recording_events
                      where account_id = ? and session_id = ? and arrival > ?
                        and occurred_at >= coalesce(?::timestamptz, '-infinity')
                      order by arrival limit ?) e) e
      where before = 0 or before + size <= ? order by arrival`,
    [accountId, session, arrival, since ?? null, size, PAGE_SIZE_MAX],
  );
  const isCut = found.length < (found[0]?.found ?? 0);
  const events = found.map(({ found: _, ...event }) => event);
  return { session, events, last: !isCut && events.length < size };
}

/**
 * Takes a page into memory, in one transaction with whatever `within` does. Each event that contains text becomes a raw
 * row, unless memory has a row for it, or had one that was deleted. Returns the number of new rows. Throws
 * `not_authenticated` when the account is gone or being erased.
 */
export function storeSyncPage(
  em: EntityManager,
  accountId: string,
  { session, events, syncedTo }: SyncPage,
  within: (tx: EntityManager, created: number) => Promise<void>,
): Promise<number> {
  const ids = newIds(events.length);
  const rows = events.flatMap(({ body }, place) => {
    const event = JSON.parse(body) as StoredEvent;
    const raw = rawOf(event);
    return raw === undefined ? [] : { ...raw, id: ids[place] ?? '', event_id: event.id };
  });
  return transaction(em, async (tx) => {
    // Waits for other changes of the account's memory, so that the tombstones of deletions are seen.
    const locked = await tx.execute<object[]>('select from accounts where id = ? and active for update', [
      accountId,
    ]);
    if (locked.length === 0) throw new AppError('not_authenticated');
    const added = await tx.execute<{ id: string }[]>(INSERT_ROWS, [accountId, JSON.stringify(rows)]);
    const created = added.length;
    const addedIds = new Set(added.map(({ id }) => id));
    await storePhrases(
      tx,
      accountId,
      rows.filter(({ id }) => addedIds.has(id)),
    );
    if (created > 0)
      await tx.execute('update accounts set memory_revision = memory_revision + 1 where id = ?', [accountId]);
    if (syncedTo !== undefined)
      await tx.execute(
        `update recording_sessions set synced_arrival = greatest(synced_arrival, ?::bigint) where id = ? and account_id = ?`,
        [syncedTo, session, accountId],
      );
    await within(tx, created);
    return created;
  });
}

const INSERT_ROWS = `
  insert into raw_memories (
    id, account_id, content, kind, role, origin, agent, session_id, source, event_id, occurred_at, tags, metadata,
    created_at)
  select r.id, a.id, r.content, r.kind, r.role, r.origin, r.agent, r."sessionId", r.source, r.event_id,
         r."occurredAt", '{}', r.metadata, now()
    from (select ?::uuid as id) a
   cross join json_to_recordset(?::json) r (
     id uuid, content text, kind text, role text, origin text, agent text, "sessionId" text, source text,
     event_id text, "occurredAt" timestamptz, metadata jsonb)
   where not exists (
     select from memory_tombstones t
      where t.account_id = a.id and t.event_hash = event_hash(a.id, r.event_id))
  on conflict (account_id, event_id) where event_id is not null do nothing
  returning id`;

/** A stored event, parsed from JSON. */
export type StoredEvent = Readonly<Record<string, unknown>> & {
  type: string;
  id: string;
  session_id: string;
  source: string;
  occurred_at: string;
};

type RawText = Pick<RawValues, 'kind' | 'role' | 'content' | 'agent'>;

/**
 * Makes the raw row of an event. Returns undefined for an event without text: a `session.*` event, or a blank text. A
 * text that is too long for a row loses its middle.
 */
export function rawOf(event: StoredEvent): RawValues | undefined {
  const rawText = rawTextOf(event);
  if (rawText === undefined || rawText.content.trim() === '') return undefined;
  const { in_reply_to: inReplyTo } = event;
  return {
    ...rawText,
    content: truncateMiddle(rawText.content, CONTENT_MAX),
    origin: originOf(rawText, event),
    sessionId: event.session_id,
    source: event.source,
    occurredAt: new Date(event.occurred_at),
    tags: [],
    metadata: typeof inReplyTo === 'string' ? { in_reply_to: inReplyTo } : {},
  };
}

function rawTextOf({ type, ...event }: StoredEvent): RawText | undefined {
  const agent = String(event['agent']);
  switch (type) {
    case 'agent.prompt':
      return { kind: 'prompt', role: 'agent', agent, content: String(event['prompt']) };
    case 'user.reply':
      return { kind: 'reply', role: 'human', agent, content: String(event['reply']) };
    case 'agent.message':
      return { kind: 'message', role: 'agent', agent, content: String(event['text']) };
    case 'user.message':
      return { kind: 'message', role: 'human', agent: null, content: String(event['text']) };
    case 'note':
      return { kind: 'note', role: 'human', agent: null, content: String(event['text']) };
    case 'session.started':
    case 'session.stopped':
      return undefined;
    default:
      return { kind: 'other', role: null, agent: null, content: JSON.stringify(event['payload']) };
  }
}

/**
 * Returns the origin of a row. A producer may mark a person's text as predicted: it is no evidence of what the person
 * thinks.
 */
function originOf({ role }: RawText, { origin }: StoredEvent): RawValues['origin'] {
  if (role !== 'human') return role === 'agent' ? 'agent' : 'unknown';
  return MESSAGE_ORIGINS.find((known) => known === origin) ?? 'human';
}
