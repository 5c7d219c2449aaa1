import { migrateDatabase, type Patience } from '../db/migrate.ts';
import { migrateQueueSchema } from '../queue/postgres-store.ts';

interface Installation extends Patience {
  /** Address of PostgreSQL itself, not of a pooler. */
  directUrl: string;
  queuePrefix: string;
}

/**
 * Brings the database up to date: our tables and functions, then those of the queue. Any number of processes may call
 * it at once.
 */
export function migrate({ queuePrefix, ...installation }: Installation): Promise<void> {
  return migrateDatabase({
    ...installation,
    migrateOthers: (client) => migrateQueueSchema(client, queuePrefix),
  });
}
