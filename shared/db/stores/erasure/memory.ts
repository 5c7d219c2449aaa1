import type { EntityManager } from '@mikro-orm/postgresql';

/** Derived rows first, so that none is left without its source. */
const TABLES = ['memory_links', 'facts', 'episodes', 'raw_memories', 'memory_tombstones'];
const ROWS_AT_ONCE = 1000;

/** Erases what is remembered about an account, in short steps. */
export function eraseMemory(em: EntityManager, accountId: string): AsyncGenerator<void> {
  return eraseRows(em, accountId, TABLES);
}

/** Erases the predictions of an account's replies. Its work has ended before, so that none is added. */
export function eraseReplies(em: EntityManager, accountId: string): AsyncGenerator<void> {
  return eraseRows(em, accountId, ['replies', 'reply_calibrators']);
}

async function* eraseRows(
  em: EntityManager,
  accountId: string,
  tables: readonly string[],
): AsyncGenerator<void> {
  for (const table of tables)
    for (let erased = ROWS_AT_ONCE; erased === ROWS_AT_ONCE; ) {
      const gone = await em.execute<object[]>(
        `delete from ${table} where ctid = any (array(select ctid from ${table} where account_id = ? limit ?)) returning 1`,
        [accountId, ROWS_AT_ONCE],
      );
      erased = gone.length;
      yield;
    }
}
