import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { PREDICTION_MODES, PREDICTION_STATES } from '../../schemas/limits.ts';

/**
 * One prediction of the first edition, from admission to tombstone. It references its app without a foreign key,
 * because the check would lock the app's row for every request.
 */
export const Prediction = defineEntity({
  name: 'Prediction',
  tableName: 'predictions',
  properties: {
    id: p.uuid().primary(),
    appId: p.uuid(),
    requestId: p.string().length(80),
    userId: p.text(),
    sessionId: p.string().length(80),
    mode: p.enum([...PREDICTION_MODES]),
    connectionId: p.string().length(80).nullable(),
    /** HMAC of the validated body under the app's key. */
    fingerprint: p.blob(),
    draftRevision: p.bigint('number'),
    contextRevision: p.text(),
    profileRevision: p.text().default('none'),
    grantRevision: p.integer().default(0),

    state: p.enum([...PREDICTION_STATES]),
    /** Why it ended cancelled or failed: a code of the catalogue, or `abandoned`. */
    code: p.text().nullable(),
    errorSource: p.text().nullable(),
    /** Fencing token: grows whenever the row is queued again, and a completion must name its own. */
    attempt: p.integer().default(1),
    /** The process that runs it. */
    worker: p.uuid().nullable(),
    /** The ingress processes whose callers wait for it. */
    waiters: p.array().columnType('uuid[]'),
    detachedAt: p.datetime(3).nullable(),
    cancelOnDisconnect: p.boolean().default(false),
    /** Its priority: one more than its app's last, or than the virtual time if that is later. */
    turn: p.bigint('number').default(0),

    admittedAt: p.datetime(3),
    deadlineAt: p.datetime(3),
    /** When a row that is still queued counts as stranded. */
    requeueAt: p.datetime(3),
    startedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3).nullable(),
    erased: p.boolean().default(false),

    month: p.string().length(7),
    plan: p.text(),
    priceMicrocents: p.bigint('number'),
    units: p.smallint().default(0),
    contextTruncated: p.boolean().default(false),
    providerMs: p.integer().nullable(),
  },
  uniques: [{ name: 'predictions_request', properties: ['appId', 'requestId'] }],
  indexes: [
    {
      name: 'predictions_live_session',
      expression: `create index "predictions_live_session" on "predictions" ("app_id", "user_id", "session_id") where state in ('queued', 'running')`,
    },
    {
      name: 'predictions_live',
      expression: `create index "predictions_live" on "predictions" ("deadline_at") where state in ('queued', 'running')`,
    },
    {
      name: 'predictions_connected',
      expression: `create index "predictions_connected" on "predictions" ("connection_id") where connection_id is not null`,
    },
    {
      name: 'predictions_unerased',
      expression: `create index "predictions_unerased" on "predictions" ("expires_at") where expires_at is not null and not erased`,
    },
  ],
});
export type Prediction = InferEntity<typeof Prediction>;

/** What a person wrote and what was suggested, in a row of its own, so that erasing means deleting it. */
export const PredictionText = defineEntity({
  name: 'PredictionText',
  tableName: 'prediction_texts',
  properties: {
    predictionId: p.uuid().primary(),
    request: p.text(),
    answer: p.text().nullable(),
  },
});

/** The highest draft revision admitted for a user's session, with a keyed hash of its text. */
export const PredictionSession = defineEntity({
  name: 'PredictionSession',
  tableName: 'prediction_sessions',
  properties: {
    appId: p.uuid().primary(),
    userId: p.text().primary(),
    sessionId: p.string().length(80).primary(),
    revision: p.bigint('number'),
    textHash: p.blob(),
    updatedAt: p.datetime(3),
  },
  indexes: [{ name: 'prediction_sessions_updated', properties: ['updatedAt'] }],
});
