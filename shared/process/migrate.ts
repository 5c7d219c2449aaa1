import { migrateDatabase } from '../db/migrate.ts';
import { migrateQueue } from '../queue/postgres-store.ts';

interface Installation {
  /** Address of PostgreSQL itself, not of a pooler. */
  directUrl: string;
  queuePrefix: string;
  /** Time to keep trying while others hold the tables; 2 minutes by default. */
  patienceMs?: number;
}

/**
 * Brings the database up to date: our tables and functions, then those of the queue. Any number of processes may call
 * it at once.
 */
export function migrate({ directUrl, queuePrefix, patienceMs }: Installation): Promise<void> {
  return migrateDatabase({ directUrl, patienceMs, others: (client) => migrateQueue(client, queuePrefix) });
}
