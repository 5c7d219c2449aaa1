/**
 * Kinds of entries in `erasures`. A `tombstone` is the hash of an event whose raw row was deleted; an `event` was
 * deleted itself. A `statement` is a hash that promotion must not learn from anything said before.
 */
export const ERASED = [
  'account',
  'raw',
  'episode',
  'fact',
  'profile',
  'event',
  'tombstone',
  'statement',
] as const;
export type Erased = (typeof ERASED)[number];

/** Number of days for which entries are kept, except those of statements: longer than anybody keeps a backup. */
export const ERASURE_DAYS = 400;
