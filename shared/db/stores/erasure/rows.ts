import type { EntityManager } from '@mikro-orm/postgresql';
import { idsOf } from '../../../ids.ts';
import { oneRow } from '../../rows.ts';
import { transaction } from '../../statement.ts';
import { ROWS_AT_ONCE, repeatStep } from '../../steps.ts';

/**
 * Deletes an account's rows of a table or partition, in steps. An index must support `condition`. Repeats until no row is
 * found, because a deletion by `ctid` skips a row that another transaction changes meanwhile.
 */
export function eraseRows(
  em: EntityManager,
  accountId: string,
  table: string,
  condition = 'account_id = ?',
): AsyncGenerator<void> {
  return repeatStep(async () => {
    const counted = em.execute<{ found: number }[]>(
      `with page as (select ctid from ${table} where ${condition} limit ${ROWS_AT_ONCE}),
            gone as (delete from ${table} where ctid = any (array(select ctid from page)))
       select count(*)::int as found from page`,
      [accountId],
    );
    return (await oneRow(counted)).found;
  }, 1);
}

/** Tables of memory. Derived rows come first, so that none is left without its source. */
const MEMORY_TABLES = [
  'memory_links',
  'facts',
  'episodes',
  'phrases',
  'raw_memories',
  'memory_tombstones',
  'erasures',
];

/** Erases an account's memory except its profile, which is deleted together with the account's row. */
export async function* eraseMemory(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (const table of MEMORY_TABLES) yield* eraseRows(em, accountId, table);
}

/** The caller has already ended the account's work, so that no prediction is added. */
export async function* eraseReplies(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (const table of ['replies', 'reply_calibrators', 'permission_decisions'])
    yield* eraseRows(em, accountId, table);
}

/** The costs stay, assigned to no account. */
export function anonymizeProviderCalls(em: EntityManager, accountId: string): AsyncGenerator<void> {
  return repeatStep(async () => {
    const calls = await em.execute<object[]>(
      `update provider_calls set account_id = null
        where ctid = any (array(select ctid from provider_calls where account_id = ? limit ${ROWS_AT_ONCE})) returning 1`,
      [accountId],
    );
    return calls.length;
  });
}

const SESSIONS_AT_ONCE = 100;

interface DeletedEvents {
  sessionId: string;
  arrival: number;
  events: number;
}

/**
 * Erases session by session: the events of a session are stored close together, so each page of the table is written
 * once or twice. Every event belongs to a session of its account, so none is left over.
 */
export async function* eraseRecordings(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (;;) {
    const sessions = await em.execute<{ id: string }[]>(
      `select id from recording_sessions where account_id = ? order by last_arrival limit ?`,
      [accountId, SESSIONS_AT_ONCE],
    );
    if (sessions.length === 0) return;
    const ids = idsOf(sessions);
    yield* eraseEvents(em, ids);
    await em.execute(
      `delete from recording_sessions s
        where s.account_id = ? and s.id = any (array[?]::text[])
          and not exists (select from recording_events e where e.session_id = s.id)`,
      [accountId, ids],
    );
    yield;
  }
}

/** Each step continues after the last deleted event, because the index still contains deleted rows until a vacuum. */
function eraseEvents(em: EntityManager, sessionIds: string[]): AsyncGenerator<void> {
  const arrivals = new Map(sessionIds.map((id) => [id, 0]));
  return repeatStep(async () => {
    const deletedEvents = await deleteEvents(em, arrivals);
    for (const { sessionId, arrival } of deletedEvents) arrivals.set(sessionId, arrival);
    return deletedEvents.reduce((sum, one) => sum + one.events, 0);
  });
}

/**
 * Commits do not wait for the disk: rows that a crash of the server restores are deleted again. The planner settings
 * suit sessions of any length: a plan for an average session would sort all events of a long session at each step.
 */
const DELETION_SETTINGS = `
  select set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true),
         set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`;

function deleteEvents(em: EntityManager, arrivals: Map<string, number>): Promise<DeletedEvents[]> {
  const sessions = JSON.stringify([...arrivals].map(([id, arrival]) => ({ id, reached: arrival })));
  return transaction(em, async (tx) => {
    await tx.execute(DELETION_SETTINGS);
    return tx.execute<DeletedEvents[]>(
      `with gone as (
         delete from recording_events where ctid = any (array(
           select e.ctid from json_to_recordset(?::json) s (id text, reached bigint)
            cross join lateral (
              select v.ctid from recording_events v where v.session_id = s.id and v.arrival > s.reached
               order by v.arrival limit ?) e
            limit ?))
         returning session_id, arrival
       )
       select session_id as "sessionId", max(arrival)::float8 as arrival, count(*)::int as events
         from gone group by session_id`,
      [sessions, ROWS_AT_ONCE, ROWS_AT_ONCE],
    );
  });
}
