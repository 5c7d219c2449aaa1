import type { Entry } from '../format.ts';

/** Counts a message without words: as skipped if such a message is known to have parts of all these types. */
export function wordless(types: readonly unknown[], known: readonly unknown[]): Entry {
  return { kind: types.every((type) => known.includes(type)) ? 'skipped' : 'unread' };
}
