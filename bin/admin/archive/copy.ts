import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminConfig } from '../../../shared/config/config.ts';
import { migrate } from '../../../shared/process/migrate.ts';
import { restoreBackup, verifyBackup } from './read.ts';
import { removedAtEnd } from './removed-at-end.ts';
import { type Manifest, writeBackup } from './write.ts';

type Store = Pick<AdminConfig, 'database' | 'queuePrefix'>;

/**
 * Copies every row to an empty database, after both were migrated, by way of a file in the folder that is gone afterwards.
 * Returns how many.
 */
export async function copyDatabase(from: Store, to: Store, folder: string): Promise<number> {
  const file = join(folder, 'move.backup');
  // Left by a move that was killed.
  await rm(file, { force: true });
  using _file = removedAtEnd(file);
  await migrated(from);
  await writeBackup(from.database.directUrl, file);
  return await fill(to, file, await verifyBackup(file));
}

/** Migrates an empty database and fills it from a backup that was verified. Returns how many rows it has. */
export async function fill(store: Store, file: string, manifest: Manifest): Promise<number> {
  await migrated(store);
  return restoreBackup(store.database.directUrl, file, manifest);
}

function migrated({ database: { directUrl }, queuePrefix }: Store): Promise<void> {
  return migrate({ directUrl, queuePrefix });
}
