import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type Cursor,
  findEvent,
  findSession,
  latestSessions,
  pageOfEvents,
} from '../../../shared/db/stores/recording/read.ts';
import type { Recorded } from '../../../shared/db/stores/recording/record.ts';
import {
  type CheckedBatch,
  checkBatch,
  type RecordedEvent,
  receiptOf,
  sessionAnswer,
  storedEventJson,
} from '../../../shared/domain/recording.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
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
import { type Answer, type Endpoint, endpoint } from '../../endpoint.ts';
import { Lane } from '../../lane.ts';

export interface RecordingRoutes {
  em: () => EntityManager;
  /** Throws `overloaded` when too many uploads wait. */
  recordBatch(
    accountId: string,
    events: readonly RecordedEvent[],
    gone: AbortSignal,
  ): Promise<Recorded | undefined>;
}

const SESSIONS_LISTED = 50;
const PAGE_LIMIT = 500;

/** What producers push while people work with agents, and what they may read of it. */
export function recordingEndpoints({ em, recordBatch }: RecordingRoutes): Endpoint[] {
  const checking = new Lane({ atOnce: 1 });
  return [
    endpoint({
      method: 'POST',
      path: '/api/recording/events/',
      operationId: 'recordEvents',
      tag: 'Recording',
      summary: 'Record a batch of events',
      description:
        'Each row is checked on its own: one that is invalid does not fail the batch. 201 when at least one was new.',
      auth: 'user',
      body: RecordingBatch,
      rows: RecordingEvent,
      bodyLimit: 16 * MIB,
      keepsBody: true,
      errors: ['overloaded'],
      status: 201,
      otherStatus: 200,
      response: RecordingReceipt,
    }).handle(({ body, user, signal }) =>
      checking
        .run(() => checkBatch(body, Date.now()), { party: user.id, gone: signal })
        .then((batch) => record(batch, (events) => recordBatch(user.id, events, signal))),
    ),

    endpoint({
      method: 'GET',
      path: '/api/recording/events/:id/',
      operationId: 'readEvent',
      tag: 'Recording',
      summary: 'One event',
      params: { id: 'text' },
      auth: 'user',
      errors: ['not_found'],
      status: 200,
      response: StoredEvent,
    }).handle(async ({ user, params }) => {
      const event = await findEvent(em(), user.id, params.id);
      if (event === undefined) throw new AppError('not_found');
      return { body: storedEventJson(event) };
    }),

    endpoint({
      method: 'GET',
      path: '/api/recording/sessions/',
      operationId: 'listSessions',
      tag: 'Recording',
      summary: 'The 50 most recent sessions',
      auth: 'user',
      errors: [],
      status: 200,
      response: SessionList,
    }).handle(async ({ user }) => {
      const sessions = await latestSessions(em(), user.id, SESSIONS_LISTED);
      return { body: { results: sessions.map(sessionAnswer) } };
    }),

    endpoint({
      method: 'GET',
      path: '/api/recording/sessions/:id/events/',
      operationId: 'listSessionEvents',
      tag: 'Recording',
      summary: 'The events of a session, the oldest first',
      params: { id: 'text' },
      auth: 'user',
      query: SessionEventsQuery,
      errors: ['not_found'],
      status: 200,
      response: SessionEvents,
    }).handle(async ({ user, params, query: { limit = PAGE_LIMIT, after } }) => {
      const session = await findSession(em(), user.id, params.id);
      if (session === undefined) throw new AppError('not_found');
      const page = { limit: Number(limit), after: after === undefined ? undefined : cursorOf(after) };
      const { events, next } = await pageOfEvents(em(), session, page);
      const shown = JSON.stringify(sessionAnswer(session));
      const token = JSON.stringify(next && tokenOf(next));
      return {
        body: `{"session":${shown},"results":[${events.map(storedEventJson).join()}],"next":${token}}`,
      };
    }),
  ];
}

/** Apart from the handler: what was parsed is not held while the batch waits for its turn, only what is to be stored. */
async function record(
  batch: CheckedBatch,
  store: (events: readonly RecordedEvent[]) => Promise<Recorded | undefined>,
): Promise<Answer<RecordingReceipt>> {
  const nothing: Recorded = { accepted: 0, foreign: [] };
  const recorded = batch.events.length > 0 ? await store(batch.events) : nothing;
  if (recorded === undefined) throw new AppError('not_authenticated');
  return { body: receiptOf(batch, recorded), status: recorded.accepted > 0 ? 201 : 200 };
}

/** Cursors are opaque to clients. */
function tokenOf({ occurredMs, arrival }: Cursor): string {
  return `${occurredMs}-${arrival}`;
}

function cursorOf(token: string): Cursor {
  const [occurredMs = 0, arrival = 0] = token.split('-').map(Number);
  return { occurredMs, arrival };
}
