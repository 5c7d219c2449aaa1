import { type MigrationWait, migrateDatabase } from '../db/migrate.ts';
import { migrateQueueSchema } from '../queue/postgres-store.ts';

export interface Installation extends MigrationWait {
  /** Address of PostgreSQL itself, not of a pooler. */
  directUrl: string;
  queuePrefix: string;
}

/** Brings our tables and functions up to date, then those of the queue. Any number of processes may call it at once. */
export function migrate({ queuePrefix, ...installation }: Installation): Promise<void> {
  return migrateDatabase({
    ...installation,
    migrateOthers: (client) => migrateQueueSchema(client, queuePrefix),
  });
}
