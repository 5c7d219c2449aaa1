import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import { AppError } from '../errors/app-error.ts';
import type { Log } from '../log.ts';
import { watchConnections } from '../metrics/database.ts';
import * as access from './entities/access.ts';
import * as account from './entities/account.ts';
import * as app from './entities/app.ts';
import * as connection from './entities/connection.ts';
import * as erasure from './entities/erasure.ts';
import * as grant from './entities/grant.ts';
import * as memory from './entities/memory.ts';
import * as passkey from './entities/passkey.ts';
import * as permission from './entities/permission.ts';
import * as processes from './entities/process.ts';
import * as provider from './entities/provider.ts';
import * as recording from './entities/recording.ts';
import * as reply from './entities/reply.ts';
import * as webhook from './entities/webhook.ts';
import { QUERY_GRACE_MS, SESSION_OPTIONS, STATEMENT_TIMEOUT_MS } from './limits.ts';
import { MIGRATIONS_FOLDER } from './missing-migrations.ts';
import { adaptToPooler, dropBrokenConnections, useTlsOf } from './pool.ts';
import type { Connections } from './statement.ts';

export interface Database extends Connections {
  orm: MikroORM;
  close(): Promise<void>;
}

/**
 * Creates the ORM and its pool, but no connection: the first statement connects, and fails if the database is
 * unreachable. If `directUrl` differs from `url`, then `url` leads to a pooler. `statementMs` limits each statement.
 */
export async function openDatabase(
  config: Pick<BaseConfig, 'database'>,
  log: Log,
  name: string,
  statementMs = STATEMENT_TIMEOUT_MS,
): Promise<Database> {
  const { url, directUrl, poolSize } = config.database;
  const usesPooler = url !== directUrl;
  const orm = new MikroORM({
    ...ormOptions(url),
    pool: { min: 0, max: poolSize, idleTimeoutMillis: 30_000 },
    logger: (message) => log.warn({ orm: message }, 'database driver'),
    driverOptions: {
      application_name: name,
      connectionTimeoutMillis: 2000,
      query_timeout: statementMs + QUERY_GRACE_MS,
      keepAlive: true,
      // Omitted for a pooler, which refuses start-up parameters that it does not know.
      ...(usesPooler ? {} : { options: `${SESSION_OPTIONS} -c statement_timeout=${statementMs}` }),
      onPoolCreated(newPool: Pool) {
        useTlsOf(url, newPool);
        if (usesPooler) adaptToPooler(newPool, { cancelAfterMs: statementMs });
        dropBrokenConnections(newPool);
      },
    },
  });
  const pool = await orm.driver.getConnection().getNativeClient();
  const watch = watchConnections(name, pool);
  return {
    orm,
    pool,
    em: () => orm.em.fork(),
    async close() {
      watch.close();
      await orm.close(true);
      // The ORM closes the pool only if it has used the pool itself.
      if (!pool.ending) await pool.end();
    },
  };
}

// The entity files export nothing but entities.
const entities = [
  access,
  account,
  app,
  connection,
  erasure,
  grant,
  memory,
  passkey,
  permission,
  processes,
  provider,
  recording,
  reply,
  webhook,
].flatMap((file) => Object.values(file));

/** Tables that no entity describes, such as those of the hot path, which are partitioned or tuned. */
const PLAIN_SQL_TABLES = [/^(work|answers|rounds|phrases|installed_functions)$/, /^(history|drafts)(_\d+)?$/];

/** Tells our tables from those of others in the same schema. The queue's tables are in a schema of their own. */
export function isOurTable(name: string): boolean {
  return (
    entities.some(({ meta }) => meta.tableName === name) || PLAIN_SQL_TABLES.some((one) => one.test(name))
  );
}

/** Returns the options that the processes and the migrator share, so that both see the same schema. */
export function ormOptions(clientUrl: string) {
  return {
    clientUrl,
    entities,
    extensions: [Migrator],
    // A typo in the address must fail, not create an empty database.
    ensureDatabase: false,
    allowGlobalContext: false,
    findOneOrFailHandler: () => new AppError('not_found'),
    // Maximum rows per statement: indexing a long text takes 20 ms, and a statement has a time limit.
    batchSize: 50,
    // `installFunctions` creates functions and triggers.
    schemaGenerator: { skipTables: PLAIN_SQL_TABLES, ignoreRoutines: true, ignoreTriggers: true },
    migrations: {
      path: MIGRATIONS_FOLDER,
      pathTs: MIGRATIONS_FOLDER,
      // No snapshot file: `checkSchema` would compare the entities with the file instead of the database.
      snapshot: false,
      // A transaction for each migration: a single one would hold every lock until the last migration is done.
      transactional: true,
      allOrNothing: false,
    },
  };
}
