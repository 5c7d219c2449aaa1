import pg from 'pg';
import type { System } from './system.ts';
import { until } from './until.ts';

/** A lock held from outside the product, as by an operator's psql or a frozen process. */
export interface RowLock {
  /** Rejects if the lock was lost before. */
  release(): Promise<void>;
}

/** Locks the only row of `table` that matches `where`, with this `strength`, until the lock is released. */
export function lockRow(
  system: Pick<System, 'database'>,
  table: string,
  where: string,
  values: string[],
  strength: 'update' | 'no key update' = 'update',
): Promise<RowLock> {
  return hold(system, async (client) => {
    const { rowCount } = await client.query(`select from ${table} where ${where} for ${strength}`, values);
    if (rowCount !== 1) throw new Error(`${rowCount} rows of ${table} match, not one`);
  });
}

export function lockTable(system: Pick<System, 'database'>, table: string): Promise<RowLock> {
  return hold(system, (client) => client.query(`lock table ${table}`));
}

/** Prevents admissions of a party, like an admission that froze, until the lock is released. */
export function lockAdmissions(system: Pick<System, 'database'>, party: string): Promise<RowLock> {
  return hold(system, (client) => client.query('select lock_admissions_v1($1)', [party]));
}

/** Resolves once `count` statements that contain these words wait for a lock. */
export function untilLocked({ database }: Pick<System, 'database'>, words = '', count = 1): Promise<unknown> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`;
  return until(async () => (await database.pool.query(waiting, [words])).rows.length >= count);
}

async function hold(
  { database }: Pick<System, 'database'>,
  lock: (client: pg.Client) => Promise<unknown>,
): Promise<RowLock> {
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  // This connection has none of the product's own limits.
  await client.query(
    'set lock_timeout = 0; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0',
  );
  await client.query('begin');
  await lock(client);
  return {
    async release() {
      try {
        await client.query('commit');
      } finally {
        await client.end();
      }
    },
  };
}
