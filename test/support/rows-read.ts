import type { EntityManager } from '@mikro-orm/postgresql';
import type { System } from './system.ts';

/** PostgreSQL's own count, in this transaction: rows of tables that are read in order, and entries of indexes. */
const READ = `
  select sum(pg_stat_get_xact_tuples_returned(c.oid))::int as read from pg_class c
   where c.relkind in ('r', 'i') and c.relnamespace = current_schema()::regnamespace`;

/** How many rows and entries of indexes the stores visit while they read something. */
export function rowsRead(
  system: Pick<System, 'em'>,
  read: (em: EntityManager) => Promise<unknown>,
): Promise<number> {
  return system.em().transactional(async (em) => {
    // Counts of other processes are not this transaction's.
    await em.execute('set local max_parallel_workers_per_gather = 0');
    await read(em);
    const [found] = await em.execute<{ read: number }[]>(READ);
    return found?.read ?? Number.NaN;
  });
}
