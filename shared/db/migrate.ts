import { readdir } from 'node:fs/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { runMigrations } from 'bullmq';
import pg from 'pg';
import { migrateConfig } from '../config/config.ts';
import { ConfigError } from '../config/env.ts';
import { queueSchema } from '../jobs/postgres-queues.ts';
import { createLog } from '../log.ts';
import { installFunctions } from './functions.ts';
import { MIGRATIONS, ormOptions } from './orm.ts';

/**
 * Brings the database up to date: our tables, then the queue's. Any number of processes may call it at once: a
 * lock lets one work, and the others find it done. `directUrl` leads past a pooler, because the lock is a session's.
 */
export async function migrate(target: { directUrl: string; queuePrefix: string }): Promise<void> {
  const client = new pg.Client({ connectionString: target.directUrl });
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(hashtext('forecue migrations'))`);
    const orm = new MikroORM({ ...ormOptions(target.directUrl), logger: () => {} });
    try {
      await orm.migrator.up();
    } finally {
      await orm.close(true);
    }
    await installFunctions(client);
    await runMigrations(client, queueSchema(target.queuePrefix));
  } finally {
    await client.end();
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
