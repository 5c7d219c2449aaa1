import type { EntityManager } from '@mikro-orm/postgresql';

const SESSIONS_AT_ONCE = 100;
/** Events of one statement: some 10 ms. */
const EVENTS_AT_ONCE = 1000;

interface Deleted {
  sessionId: string;
  arrival: number;
  events: number;
}

/**
 * Erases what an account has recorded, in short steps, session by session: a session's events stand together in the
 * table, so each of its pages is written once or twice. An event's session is its account's, so none is left over.
 */
export async function* eraseRecordings(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (;;) {
    const sessions = await em.execute<{ id: string }[]>(
      `select id from recording_sessions where account_id = ? order by last_arrival limit ?`,
      [accountId, SESSIONS_AT_ONCE],
    );
    if (sessions.length === 0) return;
    const ids = sessions.map(({ id }) => id);
    yield* eraseEvents(em, ids);
    await em.execute(
      `delete from recording_sessions s
        where s.account_id = ? and s.id in (select json_array_elements_text(?::json))
          and not exists (select from recording_events e where e.session_id = s.id)`,
      [accountId, JSON.stringify(ids)],
    );
    yield;
  }
}

/**
 * Each statement goes on after the last arrival that the one before deleted: until a vacuum the index leads past all
 * that is dead, which would make a long session's last statements slow. A commit does not wait for the disk: what a crash of
 * the server brings back is deleted by whoever goes on.
 */
async function* eraseEvents(em: EntityManager, sessionIds: string[]): AsyncGenerator<void> {
  const reached = new Map(sessionIds.map((id) => [id, 0]));
  for (let events = EVENTS_AT_ONCE; events === EVENTS_AT_ONCE; ) {
    const deleted = await em.execute<Deleted[]>(
      `with hasty as materialized (
         select set_config('synchronous_commit', 'off', true)
       ), gone as (
         delete from recording_events where ctid = any (array(
           select e.ctid
             from hasty cross join json_to_recordset(?::json) s (id text, reached bigint)
            cross join lateral (
              select v.ctid from recording_events v where v.session_id = s.id and v.arrival > s.reached
               order by v.arrival limit ?) e
            limit ?))
         returning session_id, arrival
       )
       select session_id as "sessionId", max(arrival)::float8 as arrival, count(*)::int as events
         from gone group by session_id`,
      [
        JSON.stringify([...reached].map(([id, arrival]) => ({ id, reached: arrival }))),
        EVENTS_AT_ONCE,
        EVENTS_AT_ONCE,
      ],
    );
    events = deleted.reduce((sum, one) => sum + one.events, 0);
    for (const { sessionId, arrival } of deleted) reached.set(sessionId, arrival);
    yield;
  }
}
