import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { runMigrations } from 'bullmq';
import pg from 'pg';
import { migrateConfig } from '../config/config.ts';
import { ConfigError } from '../config/env.ts';
import { queueSchema } from '../jobs/postgres-queues.ts';
import { createLog } from '../log.ts';
import { isSerializationConflict } from './faults.ts';
import { installFunctions } from './functions.ts';
import { MIGRATIONS, ormOptions } from './orm.ts';

/**
 * A migration that waits for a table's lock makes everybody who comes after it wait too, readers as well. It therefore
 * waits for less than the service's statements do (500 ms at least), gives way, and tries again.
 */
const LOCK_TIMEOUT_MS = 300;
const RETRY_AFTER_MS = 700;

interface Target {
  directUrl: string;
  queuePrefix: string;
  /** How long to go on trying when others hold the tables; 2 minutes. */
  patienceMs?: number;
}

/**
 * Brings the database up to date: our tables, then the queue's. Any number of processes may call it at once: an
 * advisory lock lets one work, and the others find it done. `directUrl` leads past a pooler, because the lock is a
 * session's.
 *
 * Each migration is a transaction of its own. Of a large table it may change only what takes no time under the lock:
 * a column without a volatile default, a constraint that is `not valid` (validated by a later migration), no index.
 * An index on one is built by a migration whose `isTransactional()` returns false, alone in it, and safe to repeat:
 *
 *     this.addSql('set lock_timeout = 0'); // it waits for older transactions, and blocks nobody
 *     this.addSql('drop index concurrently if exists things_by_name'); // what a failed attempt left, invalid
 *     this.addSql('create index concurrently things_by_name on things (name)');
 *     this.addSql('reset lock_timeout');
 */
export async function migrate({ directUrl, queuePrefix, patienceMs = 120_000 }: Target): Promise<void> {
  const client = new pg.Client({ connectionString: directUrl });
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(hashtext('forecue migrations'))`);
    const orm = new MikroORM({
      ...ormOptions(directUrl),
      // One session, so that what a migration without a transaction sets holds for all of its statements.
      pool: { min: 0, max: 1 },
      driverOptions: { lock_timeout: LOCK_TIMEOUT_MS, application_name: 'forecue migrate' },
      logger: () => {},
    });
    try {
      await givingWay(() => orm.migrator.up(), patienceMs);
    } finally {
      await orm.close(true);
    }
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await givingWay(() => installFunctions(client), patienceMs);
    await givingWay(() => runMigrations(client, queueSchema(queuePrefix)), patienceMs);
  } finally {
    await client.end();
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const isLockTimeout = (error: unknown) => (error as { code?: string }).code === LOCK_NOT_AVAILABLE;

/** What was done before the lock that could not be had stays done: the next attempt goes on from there. */
async function givingWay(work: () => Promise<unknown>, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isLockTimeout(error) && !isSerializationConflict(error)) throw error;
      if (performance.now() > deadline)
        throw new Error(
          'a table is in use all the time: see who holds it in pg_stat_activity, then try again',
          {
            cause: error,
          },
        );
      await sleep(RETRY_AFTER_MS * (0.5 + Math.random()));
    }
  }
}

const UNDEFINED_TABLE = '42P01';

/** The names of our migrations that the database lacks, in their order. Only reads, unlike the migrator. */
export async function missingMigrations(pool: pg.Pool): Promise<string[]> {
  const files = await readdir(MIGRATIONS);
  const names = files.flatMap((file) => file.match(/^(Migration\d+)\.ts$/)?.[1] ?? []);
  const applied = await pool
    .query<{ name: string }>('select name from mikro_orm_migrations')
    .catch((error: { code?: string }) => {
      if (error.code === UNDEFINED_TABLE) return { rows: [] };
      throw error;
    });
  const known = new Set(applied.rows.map(({ name }) => name));
  return names.filter((name) => !known.has(name)).sort();
}

if (import.meta.main) {
  try {
    const config = migrateConfig(process.env);
    await migrate({ directUrl: config.database.directUrl, queuePrefix: config.queuePrefix });
    createLog('migrate', config.logLevel).info('the database is up to date');
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : `migrate: ${String(error)}`}\n`);
    process.exitCode = 1;
  }
}
