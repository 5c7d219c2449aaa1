import { assertSchemaCompatibility, createPostgresBackend, withBackend } from 'bullmq';
import type { Pool } from 'pg';
import type { BaseConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { bullmqQueues } from './bullmq-queues.ts';
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

/**
 * Commits of the queue need not wait for the disk: the truth is in the rows, and what a crash loses here the reaper
 * queues again.
 */
export function postgresQueues(
  { database, queuePrefix }: Pick<BaseConfig, 'database' | 'queuePrefix'>,
  log: Log,
): Queues {
  const connection = {
    connectionString: database.directUrl,
    schema: queueSchema(queuePrefix),
    max: 4,
    connectionTimeoutMillis: 2000,
    options: '-c synchronous_commit=off',
  };
  const classes = withBackend(createPostgresBackend);
  // The queue's tables are in the database whose health is asked for anyway.
  return bullmqQueues(classes, { producer: connection, consumer: () => connection }, log);
}
