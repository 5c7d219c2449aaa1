import Type, { type Static } from 'typebox';
import { closedObject, oneOf } from './build.ts';
import { Count, Id } from './common.ts';

/** Maximum rows of a request that forgets: each takes several statements, in one transaction. */
export const FORGOTTEN_AT_ONCE_MAX = 100;
/** Rows of a tier to forget. Those that are not there are left out. */
export const ForgetRequest = closedObject({
  tier: oneOf(['raw', 'episodes', 'facts']),
  ids: Type.Array(Id, { minItems: 1, maxItems: FORGOTTEN_AT_ONCE_MAX, uniqueItems: true }),
  /** Deletes the events of raw rows too. */
  purge_event: Type.Optional(Type.Boolean()),
});
export type ForgetRequest = Static<typeof ForgetRequest>;

/** How many rows are forgotten, and how many others that changed or deleted. */
export const ForgetReceipt = closedObject({
  forgotten: Count,
  events_deleted: Count,
  episodes: closedObject({ deleted: Count, stale: Count }),
  facts: closedObject({ deleted: Count, stale: Count, restored: Count }),
});
export type ForgetReceipt = Static<typeof ForgetReceipt>;
