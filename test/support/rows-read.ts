import type { EntityManager } from '@mikro-orm/postgresql';
import type { System } from './system.ts';

/** Reads PostgreSQL's own counts for this transaction: rows read by scans of tables, and index entries. */
const ROWS_READ_QUERY = `
  select sum(pg_stat_get_xact_tuples_returned(c.oid))::int as read from pg_class c
   where c.relkind in ('r', 'i') and c.relnamespace = current_schema()::regnamespace`;

export function countRowsRead(
  system: Pick<System, 'em'>,
  read: (em: EntityManager) => Promise<unknown>,
): Promise<number> {
  return system.em().transactional(async (em) => {
    // Rows that parallel workers read would not count for this transaction.
    await em.execute('set local max_parallel_workers_per_gather = 0');
    const count = async () => (await em.execute<{ read: number }[]>(ROWS_READ_QUERY))[0]?.read ?? Number.NaN;
    // PostgreSQL's counts include rows that this session read within the last second.
    const before = await count();
    await read(em);
    return (await count()) - before;
  });
}
