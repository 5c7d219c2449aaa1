import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A stretch of work that events are recorded under. Its id belongs, among all accounts, to whoever posted first for it. */
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
  },
  indexes: [{ name: 'recording_sessions_recent', properties: ['accountId', 'lastArrival'] }],
});
export type RecordingSession = InferEntity<typeof RecordingSession>;

/**
 * One event, as it was posted. No foreign keys: their checks would cost a look-up for each row of a batch; ingest locks
 * the account itself, and erasure deletes by account.
 */
export const RecordingEvent = defineEntity({
  name: 'RecordingEvent',
  tableName: 'recording_events',
  properties: {
    accountId: p.uuid().primary(),
    id: p.text().primary(),
    /** Grows in the order in which the account's events were committed: whoever read up to one has missed none before it. */
    arrival: p.bigint('number').autoincrement(),
    sessionId: p.text(),
    type: p.text(),
    occurredAt: p.datetime(3),
    receivedAt: p.datetime(3),
    /** JSON on one line: the properties as they were posted, unknown ones too; `occurred_at` in UTC, no `received_at`. */
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
