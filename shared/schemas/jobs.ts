import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf } from './build.ts';
import { Count, Id, Name, TimeOrDate, Timestamp } from './common.ts';

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

/** Selects the recorded events to copy into memory; by default, all new events. */
export const SyncRequest = closedObject({
  /** Takes the events that occurred at this time or later, even if an earlier sync has read them. */
  since: Type.Optional(TimeOrDate),
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

/** Selects the rows to promote; by default, those that no promotion has processed yet, oldest first. */
export const PromoteRequest = closedObject({
  /** Takes only rows that happened at this time or later. */
  since: Type.Optional(TimeOrDate),
  /** Maximum number of rows to process, 100 by default: raw rows to make episodes, or episodes to make facts. */
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  /** Model to use instead of the default: one that the operator offers. */
  model: Type.Optional(Name),
  /** Processes rows again that were promoted before, and updates the episodes or facts made from them. */
  force: Type.Optional(Type.Boolean()),
});
export type PromoteRequest = Static<typeof PromoteRequest>;

/**
 * `settled_only`, which no client can set, leaves out groups of consecutive rows that may still grow, and rows that
 * wait for a retry after a failure.
 */
export const PromoteInput = closedObject({
  ...PromoteRequest.properties,
  settled_only: Type.Optional(Type.Literal(true)),
});
export type PromoteInput = Static<typeof PromoteInput>;

export const PROMOTE_LIMIT_DEFAULT = 100;

export const PromoteResult = closedObject({
  created: Count,
  /** Number of rows that were rewritten, merged or superseded. */
  updated: Count,
  /** Number of processed rows from which nothing was made, plus rows that are set aside after a failure. */
  skipped: Count,
  /** Number of processed rows, plus rows that are set aside after a failure. */
  considered: Count,
  /** Ids of the rows that were created or updated. */
  ids: Type.Array(Id),
  model: Type.String(),
  /** Tokens of all requests to the model. */
  usage: closedObject({ input_tokens: Count, output_tokens: Count }),
  latency_ms: Count,
});
export type PromoteResult = Static<typeof PromoteResult>;
