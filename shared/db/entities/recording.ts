import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A session that events are recorded under. Its id belongs, across accounts, to the account that used it first. */
export const RecordingSession = defineEntity({
  name: 'RecordingSession',
  tableName: 'recording_sessions',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    startedAt: p.datetime(3),
    source: p.text(),
    sourceDetail: p.text().nullable(),
    endedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    /** The arrival of its latest event. */
    lastArrival: p.bigint('number'),
    /** The latest event that memory has taken in, and all before it. */
    syncedArrival: p.bigint('number').default(0),
  },
  indexes: [
    { name: 'recording_sessions_recent', properties: ['accountId', 'lastArrival'] },
    {
      name: 'recording_sessions_unsynced',
      expression: `create index "recording_sessions_unsynced" on "recording_sessions" ("account_id", "last_arrival") where last_arrival > synced_arrival`,
    },
  ],
});
export type RecordingSession = InferEntity<typeof RecordingSession>;

/**
 * One event, as it was posted. No foreign keys, whose checks would cost a look-up for each row of a batch: recording
 * locks the account itself, and erasure deletes by session.
 */
export const RecordingEvent = defineEntity({
  name: 'RecordingEvent',
  tableName: 'recording_events',
  properties: {
    accountId: p.uuid().primary(),
    id: p.text().primary(),
    /**
     * Grows in the order in which the account's events are committed, so a reader who reached one has missed none
     * before it.
     */
    arrival: p.bigint('number').autoincrement(),
    sessionId: p.text(),
    type: p.text(),
    occurredAt: p.datetime(3),
    receivedAt: p.datetime(3),
    /** JSON on one line, as it was posted, unknown properties included; `occurred_at` in UTC, no `received_at`. */
    body: p.text(),
  },
  indexes: [
    // Both by session, which is one account's: with a second index that starts with the account, looking an event up by
    // its id could come to read all of the account's.
    { name: 'recording_events_arrival', properties: ['sessionId', 'arrival'] },
    { name: 'recording_events_session', properties: ['sessionId', 'occurredAt', 'arrival'] },
  ],
});
export type RecordingEvent = InferEntity<typeof RecordingEvent>;
