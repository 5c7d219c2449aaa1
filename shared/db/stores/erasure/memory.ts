import type { EntityManager } from '@mikro-orm/postgresql';
import { eraseRows } from './rows.ts';

/** Derived rows first, so that none is left without its source. */
const TABLES = ['memory_links', 'facts', 'episodes', 'raw_memories', 'memory_tombstones'];

/** Erases what is remembered about an account, in steps. */
export async function* eraseMemory(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (const table of TABLES) yield* eraseRows(em, accountId, table);
}

/** Erases the predictions of an account's replies. Its work has ended before, so that none is added. */
export async function* eraseReplies(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (const table of ['replies', 'reply_calibrators']) yield* eraseRows(em, accountId, table);
}
