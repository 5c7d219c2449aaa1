import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf } from './build.ts';
import { Count, Id, pageLimit, Timestamp } from './common.ts';
import { UUID } from './limits.ts';

/** What is read of an account: the tiers of memory, recorded events, predictions, or all of it at once. */
export const READ_TIERS = [
  'profile',
  'facts',
  'episodes',
  'raw',
  'recording',
  'predictions',
  'export',
] as const;
export type ReadTier = (typeof READ_TIERS)[number];

const READERS = ['log_in', 'key', 'grant', 'app'] as const;

const Day = Type.String({ format: 'date' });

/** What one credential read of one tier on one day, by UTC. */
export const AccessEntry = closedObject({
  day: Day,
  /** A log-in of the person, a key, a program that has logged in by OAuth, or a connected app. */
  reader: oneOf(READERS),
  /** Id of the key, the grant or the connection; of the account for its log-ins. */
  reader_id: Id,
  /** Label of the key or name of the program or app, as it was then. */
  name: Type.String(),
  tier: oneOf(READ_TIERS),
  /** Calls that returned rows, or predictions that were made from some. */
  reads: Count,
  rows: Count,
  last_at: Timestamp,
});
export type AccessEntry = Static<typeof AccessEntry>;

export const AccessList = closedObject({
  results: Type.Array(AccessEntry),
  /** `cursor` of the next page. */
  next: nullable(Type.String()),
});
export type AccessList = Static<typeof AccessList>;

/** The last row of a page: the number of its day since 1970, its reader and its tier. */
export const ACCESS_CURSOR = new RegExp(
  `^(\\d{5})\\.(${UUID.source.slice(1, -1)})\\.(${READ_TIERS.join('|')})$`,
);

export const AccessListQuery = Type.Object({
  reader_id: Type.Optional(Id),
  tier: Type.Optional(oneOf(READ_TIERS)),
  since: Type.Optional(Day),
  until: Type.Optional(Day),
  limit: pageLimit(500, 100),
  cursor: Type.Optional(Type.String({ pattern: ACCESS_CURSOR.source })),
});
export type AccessListQuery = Static<typeof AccessListQuery>;
