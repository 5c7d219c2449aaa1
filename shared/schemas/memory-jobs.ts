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
