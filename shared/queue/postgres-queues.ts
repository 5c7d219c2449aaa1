import { assertSchemaCompatibility, type BackendFactory, PostgresQueueBackend } from 'bullmq';
import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { bullmqQueues } from './bullmq-queues.ts';
import { PulsedConnection } from './postgres-connection.ts';
import { KEEP_ALIVE } from './postgres-pulse.ts';
import type { Queues } from './queues.ts';

/** The schema of the queue's tables, when the queues are on PostgreSQL. */
export function queueSchema(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}_queue`;
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

/** A producer answers a caller, so it fails fast. A consumer has until its worker would be replaced. */
const QUERY_TIMEOUT_MS = { producer: 1500, consumer: 3000 };

/** BullMQ's backend over our connection. Each worker has its own; the producers share one. */
const createBackend: BackendFactory<PostgresQueueBackend, PulsedConnection> = (
  name,
  opts,
  { withBlockingConnection = false } = {},
) => {
  const { connection } = opts;
  return new PostgresQueueBackend(
    connection,
    name,
    { ...opts, connection: connection.pool },
    withBlockingConnection,
  );
};

/**
 * Commits of the queue do not wait for the disk: the truth is in the rows, and the reaper queues again what a crash
 * loses here. BullMQ's own notifications wake an idle worker within milliseconds.
 */
export function postgresQueues(
  { database, queuePrefix }: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  log: Log,
): Queues {
  const connect = (role: keyof typeof QUERY_TIMEOUT_MS, max: number) =>
    new PulsedConnection({
      connectionString: database.directUrl,
      schema: queueSchema(queuePrefix),
      application_name: `forecue ${role}`,
      max,
      connectionTimeoutMillis: 2000,
      query_timeout: QUERY_TIMEOUT_MS[role],
      options: '-c synchronous_commit=off',
      ...KEEP_ALIVE,
    });
  // One connection, so that its pulse shows whether an add would be answered.
  const producer = connect('producer', 1);
  producer.on('error', (error) => log.warn({ err: error }, 'queue connection'));
  const queues = bullmqQueues(
    {
      factory: createBackend,
      producer: { connection: producer },
      consumer() {
        const connection = connect('consumer', 3);
        return { options: { connection }, release: () => void connection.close() };
      },
    },
    log,
  );
  return {
    ...queues,
    // The queue's tables are in the database, which the health check queries anyway.
    ping: async () => {},
    async close() {
      await Promise.all([queues.close(), producer.close()]);
    },
  };
}
