import Type, { type Static } from 'typebox';
import { closed, nullable } from './build.ts';
import { Name, Timestamp } from './common.ts';

const Count = Type.Integer({ minimum: 0 });

/** Which recorded events memory takes in. Without any of these: all that are new. */
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

/** What a promotion looks at. Without any of these: what no promotion has looked at before, the oldest first. */
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
export type PromoteInput = PromoteRequest & { settled_only?: true };

export const PROMOTE_LIMIT = 100;

export const PromoteResult = closed({
  created: Count,
  /** Rows that were written anew, merged or superseded. */
  updated: Count,
  /** Rows that were looked at and nothing was made of. */
  skipped: Count,
  /** Rows that were looked at. */
  considered: Count,
  /** Of what was created or updated. */
  ids: Type.Array(Type.String({ format: 'uuid' })),
  model: Type.String(),
  /** Of all questions to the model. */
  usage: closed({ input_tokens: Count, output_tokens: Count }),
  latency_ms: Count,
});
export type PromoteResult = Static<typeof PromoteResult>;
