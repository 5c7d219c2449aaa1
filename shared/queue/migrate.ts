import { runMigrations } from 'bullmq';
import type { ClientBase } from 'pg';
import { queueSchema } from './postgres-queues.ts';

/** Brings the queue's own tables up to date. */
export async function migrateQueue(client: ClientBase, prefix: string): Promise<void> {
  await runMigrations(client, queueSchema(prefix));
}
