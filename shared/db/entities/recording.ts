import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { expressionIndexes } from './expression-indexes.ts';

/** A session that events are recorded under. No other account can use its id. */
export const RecordingSession = defineEntity({
  name: 'RecordingSession',
  tableName: 'recording_sessions',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    startedAt: p.datetime(3),
    source: p.text(),
    sourceDetail: p.text().nullable(),
    /** Project of the rows that memory makes from its events. */
    project: p.text().nullable(),
    endedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    /** `arrival` of the session's latest event. */
    lastArrival: p.bigint('number'),
    /** Memory has taken in the session's events up to this `arrival`. */
    syncedArrival: p.bigint('number').default(0),
  },
  indexes: [
    { name: 'recording_sessions_recent', properties: ['accountId', 'lastArrival'] },
    ...expressionIndexes('recording_sessions', {
      unsynced: `("account_id", "last_arrival") where last_arrival > synced_arrival`,
    }),
  ],
});
export type RecordingSession = InferEntity<typeof RecordingSession>;

/**
 * One event, as it was posted. There are no foreign keys, because their checks would cost a look-up for each row of a
 * batch: recording locks the account itself, and erasure deletes by session.
 */
export const RecordingEvent = defineEntity({
  name: 'RecordingEvent',
  tableName: 'recording_events',
  properties: {
    accountId: p.uuid().primary(),
    id: p.text().primary(),
    /**
     * Grows in the order in which an account's events are committed: after an event, none with a lower number can
     * appear.
     */
    arrival: p.bigint('number').autoincrement(),
    sessionId: p.text(),
    type: p.text(),
    occurredAt: p.datetime(3),
    receivedAt: p.datetime(3),
    /**
     * JSON on one line, as posted, including unknown properties; but `occurred_at` is in UTC, and there is no
     * `received_at`.
     */
    body: p.text(),
    /** Who brought the event: `login`, `import` or the id of a key. */
    witness: p.text().nullable(),
    /** True if that key vouches for nobody's words. */
    reported: p.boolean().default(false),
  },
  indexes: [
    // Both indexes start with the session, which belongs to one account. With an index that starts with the account,
    // the planner might read all events of the account to find one.
    { name: 'recording_events_arrival', properties: ['sessionId', 'arrival'] },
    { name: 'recording_events_session', properties: ['sessionId', 'occurredAt', 'arrival'] },
    ...expressionIndexes('recording_events', {
      permissions: `("account_id", "occurred_at") where type = 'agent.permission' and not reported`,
    }),
  ],
});
