import { defineEntity, p } from '@mikro-orm/core';

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
    /** Orders all events by their storing. */
    arrival: p.bigint('number').autoincrement().unique(),
    sessionId: p.text(),
    type: p.text(),
    occurredAt: p.datetime(3),
    receivedAt: p.datetime(3),
    /** The properties as they were posted, unknown ones too. */
    body: p.text(),
  },
  indexes: [
    { name: 'recording_events_session', properties: ['accountId', 'sessionId', 'occurredAt', 'arrival'] },
  ],
});
