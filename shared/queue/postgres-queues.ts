import { assertSchemaCompatibility, type BackendFactory, PostgresQueueBackend, runMigrations } from 'bullmq';
import type { ClientBase, Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { bullmqQueues, inTime } from './bullmq-queues.ts';
import { SharedConnection } from './postgres-connection.ts';
import type { Queues } from './queues.ts';

/** The schema of the queue's tables, when the queues are on PostgreSQL. */
export function queueSchema(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}_queue`;
}

/** Brings the queue's own tables up to date. */
export async function migrateQueue(client: ClientBase, prefix: string): Promise<void> {
  await runMigrations(client, queueSchema(prefix));
}

/** Fails unless the queue's own tables are there and current. */
export async function assertQueueReady(pool: Pool, prefix: string): Promise<void> {
  const client = await pool.connect();
  try {
    await assertSchemaCompatibility(client, queueSchema(prefix));
  } finally {
    client.release();
  }
}

/** BullMQ's backend over our connection. */
const createBackend: BackendFactory<PostgresQueueBackend, SharedConnection> = (
  name,
  opts,
  { withBlockingConnection = false } = {},
) => {
  const { connection } = opts;
  const options = { ...opts, connection: connection.pool };
  return new PostgresQueueBackend(connection, name, options, withBlockingConnection);
};

/**
 * Commits of the queue do not wait for the disk: the truth is in the rows. BullMQ's own notifications wake an idle worker
 * within milliseconds.
 */
export function postgresQueues(
  { database, queuePrefix }: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  log: Log,
): Queues {
  const connection = new SharedConnection({
    connectionString: database.directUrl,
    schema: queueSchema(queuePrefix),
    application_name: 'forecue queue',
    max: 3,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
    options: '-c synchronous_commit=off',
  });
  connection.on('error', (error) => log.warn({ err: error }, 'queue connection'));
  const options = { connection };
  const queues = bullmqQueues({ factory: createBackend, producer: options, consumer: () => options }, log);
  return {
    ...queues,
    async ping() {
      await connection.pool.query('select 1');
    },
    async close() {
      await queues.close();
      await inTime(connection.end());
    },
  };
}
