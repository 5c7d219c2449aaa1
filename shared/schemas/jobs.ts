import Type, { type Static } from 'typebox';
import { closed, nullable, oneOf } from './build.ts';
import { Name, Timestamp } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
const Id = Type.String({ format: 'uuid' });

/** The answer to a request that is not waited for. */
export const JobReceipt = closed({ job_id: Id, status_url: Type.String() });
export type JobReceipt = Static<typeof JobReceipt>;

export const JobResponse = closed({
  id: Id,
  kind: Type.String(),
  state: oneOf(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  progress: closed({ done: Count, total: Count }),
  /** Answer that the request would have had, had it been waited for. */
  result: Type.Unsafe<object | null>({ type: ['object', 'null'] }),
  error: nullable(closed({ code: Type.String(), message: Type.String() })),
  created_at: Timestamp,
  finished_at: nullable(Timestamp),
});
export type JobResponse = Static<typeof JobResponse>;

/** The recorded events that memory takes in; all new ones by default. */
export const SyncRequest = closed({
  /** Events that occurred then or later, also those that were looked at before. */
  since: Type.Optional(Timestamp),
  session_id: Type.Optional(Name),
  /** Looks at so many events at most. */
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
});
export type SyncRequest = Static<typeof SyncRequest>;

export const SyncResult = closed({
  /** Events that were looked at. */
  scanned: Count,
  created: Count,
  /** Events that are in memory already, were deleted from it, or say nothing. */
  skipped: Count,
  last_event_at: nullable(Timestamp),
});
export type SyncResult = Static<typeof SyncResult>;

/** Scope of a promotion. Without any of these: rows that no promotion has looked at, the oldest first. */
export const PromoteRequest = closed({
  /** Only what happened then or later. */
  since: Type.Optional(Timestamp),
  /** Looks at so many rows at most: raw ones for episodes, episodes for facts. 100 by default. */
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  /** Instead of the default model: one of those that the operator offers. */
  model: Type.Optional(Name),
  /** Looks again at what was promoted before, and updates what came of it. */
  force: Type.Optional(Type.Boolean()),
});
export type PromoteRequest = Static<typeof PromoteRequest>;

/** The input of a promotion. `settled_only`, which the scheduler sets, leaves out what may still go on. */
export const PromoteInput = closed({
  ...PromoteRequest.properties,
  settled_only: Type.Optional(Type.Literal(true)),
});
export type PromoteInput = Static<typeof PromoteInput>;

export const PROMOTE_LIMIT = 100;

export const PromoteResult = closed({
  created: Count,
  /** Rows that were written anew, merged or superseded. */
  updated: Count,
  /** Rows that were looked at and nothing was made of. */
  skipped: Count,
  /** Rows that were looked at. */
  considered: Count,
  /** Ids of the rows that were created or updated. */
  ids: Type.Array(Id),
  model: Type.String(),
  /** Tokens of all questions to the model. */
  usage: closed({ input_tokens: Count, output_tokens: Count }),
  latency_ms: Count,
});
export type PromoteResult = Static<typeof PromoteResult>;
