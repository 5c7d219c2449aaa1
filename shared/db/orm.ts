import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { entities } from './entities/index.ts';
import { QUERY_TIMEOUT_MS, SESSION_OPTIONS, STATEMENT_TIMEOUT_MS } from './limits.ts';
import { mendPool } from './pool.ts';
import { usePooler } from './pooler.ts';

/** MikroORM and the very pool that it uses: the heart's statements go to the pool directly, the rest through entities. */
export interface Database {
  orm: MikroORM;
  pool: Pool;
  close(): Promise<void>;
}

/**
 * Opens no connection yet: the first statement does, and a database that is unreachable fails that statement. Where
 * there is a direct address besides the database's own, that one is taken to be a pooler's.
 */
export async function openDatabase(
  config: Pick<BaseConfig, 'database'>,
  log: Log,
  name: string,
): Promise<Database> {
  const { url, directUrl, poolSize } = config.database;
  const pooled = url !== directUrl;
  const orm = new MikroORM({
    ...ormOptions(url),
    pool: { min: 0, max: poolSize, idleTimeoutMillis: 30_000 },
    logger: (message) => log.warn({ orm: message }, 'database driver'),
    driverOptions: {
      application_name: name,
      connectionTimeoutMillis: 2000,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      // A pooler refuses start-up parameters that it does not know.
      ...(pooled ? {} : { options: SESSION_OPTIONS }),
      onPoolCreated(created: Pool) {
        if (pooled) usePooler(created, { cancelAfterMs: STATEMENT_TIMEOUT_MS });
        mendPool(created);
      },
    },
  });
  const pool = await orm.driver.getConnection().getNativeClient();
  return {
    orm,
    pool,
    async close() {
      await orm.close(true);
      // The ORM ends the pool only if it has used it itself.
      if (!pool.ending) await pool.end();
    },
  };
}

/** The heart's tables are partitioned or tuned, and read by its own statements alone: no entity describes them. */
const HEART_TABLES = [
  /^(work|answers|flows|queues|leases|installed_functions)$/,
  /^(history|drafts)(_\d+)?$/,
];

export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Shared by the processes and the migrator, so that both see the same schema. */
export function ormOptions(clientUrl: string) {
  return {
    clientUrl,
    entities,
    extensions: [Migrator],
    // A wrong name in the address is to be told, not to become an empty database.
    ensureDatabase: false,
    allowGlobalContext: false,
    schemaGenerator: { skipTables: HEART_TABLES },
    migrations: {
      path: MIGRATIONS,
      pathTs: MIGRATIONS,
      snapshotName: 'snapshot',
      // Each in a transaction of its own: one for all would keep every lock until the last is done.
      transactional: true,
      allOrNothing: false,
    },
  };
}
