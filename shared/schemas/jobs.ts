import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf } from './build.ts';
import { Count, Id, Name, Timestamp } from './common.ts';

/** Answer to a request with `Prefer: respond-async`, whose caller does not wait for the result. */
export const JobReceipt = closedObject({ job_id: Id, status_url: Type.String() });
export type JobReceipt = Static<typeof JobReceipt>;

export const JobResponse = closedObject({
  id: Id,
  kind: Type.String(),
  state: oneOf(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  progress: closedObject({ done: Count, total: Count }),
  /** Answer that the request would have had if the caller had waited for it. */
  result: Type.Unsafe<object | null>({ type: ['object', 'null'] }),
  error: nullable(closedObject({ code: Type.String(), message: Type.String() })),
  created_at: Timestamp,
  finished_at: nullable(Timestamp),
});
export type JobResponse = Static<typeof JobResponse>;

/** Recorded events to take into memory. By default, all new events. */
export const SyncRequest = closedObject({
  /** Takes the events that occurred at this time or later, including those that an earlier sync looked at. */
  since: Type.Optional(Timestamp),
  session_id: Type.Optional(Name),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
});
export type SyncRequest = Static<typeof SyncRequest>;

export const SyncResult = closedObject({
  scanned: Count,
  created: Count,
  /** Number of events that are already in memory, were deleted from memory, or contain no text. */
  skipped: Count,
  last_event_at: nullable(Timestamp),
});
export type SyncResult = Static<typeof SyncResult>;

/** Scope of a promotion. By default, it takes the rows that no promotion has looked at yet, oldest first. */
export const PromoteRequest = closedObject({
  /** Takes only rows that happened at this time or later. */
  since: Type.Optional(Timestamp),
  /** Maximum number of rows to look at: raw rows for episodes, episodes for facts. 100 by default. */
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  /** Model to use instead of the default: one that the operator offers. */
  model: Type.Optional(Name),
  /** Looks again at rows that were promoted before, and updates the rows made from them. */
  force: Type.Optional(Type.Boolean()),
});
export type PromoteRequest = Static<typeof PromoteRequest>;

/** `settled_only`, which no client can set, leaves out stretches of work that may continue. */
export const PromoteInput = closedObject({
  ...PromoteRequest.properties,
  settled_only: Type.Optional(Type.Literal(true)),
});
export type PromoteInput = Static<typeof PromoteInput>;

export const PROMOTE_LIMIT = 100;

export const PromoteResult = closedObject({
  created: Count,
  /** Number of rows that were rewritten, merged or superseded. */
  updated: Count,
  /** Number of rows that were looked at and yielded nothing, plus the rows that stay set aside. */
  skipped: Count,
  /** Number of rows that were looked at, plus the rows that stay set aside. */
  considered: Count,
  /** Ids of the rows that were created or updated. */
  ids: Type.Array(Id),
  model: Type.String(),
  /** Tokens of all questions to the model. */
  usage: closedObject({ input_tokens: Count, output_tokens: Count }),
  latency_ms: Count,
});
export type PromoteResult = Static<typeof PromoteResult>;
