import { latestSessions, readSessionHeads } from '../../../shared/db/stores/recording/read.ts';
import { witnessOf } from '../../../shared/domain/witness.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import {
  RecordingBatch,
  RecordingEvent,
  RecordingReceipt,
  SessionEvents,
  SessionEventsQuery,
  SessionList,
  StoredEvent,
} from '../../../shared/schemas/recording.ts';
import { endpoint } from '../../http/endpoint.ts';
import { presentSession } from '../../recording/service.ts';
import type { Parts } from '../parts.ts';

const SESSIONS_LISTED = 50;

export const recordEvents = endpoint('user', {
  operationId: 'recordEvents',
  tag: 'Recording',
  scopes: ['write', 'record'],
  summary: 'Record a batch of events',
  description:
    'Each row is checked on its own: one that is invalid does not fail the batch. 201 when at least one was new. ' +
    'When the new rows do not all fit into the quotas of the account, none is stored (403 `quota_exceeded`). ' +
    'What a key without the scope `record` brings is only reported, until who vouches brings an event of the same id.',
  body: RecordingBatch,
  rows: RecordingEvent,
  bodyLimit: 16 * MIB,
  // At most 1000 rows, with a hundred values each on average.
  bodyValues: 100_000,
  keepsBody: true,
  boxesBody: true,
  errors: ['overloaded', 'quota_exceeded'],
  status: 201,
  otherStatus: 200,
  response: RecordingReceipt,
}).handle(async ({ body, user, signal }, { recording }: Parts) => {
  const receipt = await recording.record(user.id, body, { witness: witnessOf(user, 'record'), gone: signal });
  return { body: receipt, status: receipt.accepted > 0 ? 201 : 200 };
});

export const readEvent = endpoint('user', {
  operationId: 'readEvent',
  tag: 'Recording',
  summary: 'One event',
  params: { id: 'text' },
  errors: ['overloaded'],
  response: StoredEvent,
}).handle(async ({ user, params, reserve, signal }, { recording }: Parts) => ({
  body: await recording.readEvent(user.id, params.id, { reserve, signal }),
  read: { recording: 1 },
}));

export const listSessions = endpoint('user', {
  operationId: 'listSessions',
  tag: 'Recording',
  summary: 'The 50 most recent sessions',
  response: SessionList,
}).handle(async ({ user }, { em }: Parts) => {
  const sessions = await latestSessions(em(), user.id, SESSIONS_LISTED);
  const ids = sessions.map(({ id }) => id);
  const heads = await readSessionHeads(em(), user.id, ids);
  const results = sessions.map((row) => {
    const { title = null, permissions = null } = heads.get(row.id) ?? {};
    return { ...presentSession(row), title, project: row.project ?? null, permissions };
  });
  return { body: { results }, read: { recording: results.length } };
});

export const listSessionEvents = endpoint('user', {
  operationId: 'listSessionEvents',
  tag: 'Recording',
  summary: 'The events of a session, the oldest first',
  description:
    'A page ends before `limit` where its events come to 16 MiB; `next` is null on the last page only.',
  params: { id: 'text' },
  query: SessionEventsQuery,
  errors: ['overloaded'],
  response: SessionEvents,
}).handle(async ({ user, params, query, reserve, signal }, { recording }: Parts) => {
  const { body, count } = await recording.readSession(user.id, params.id, query, { reserve, signal });
  return { body, read: { recording: count } };
});
