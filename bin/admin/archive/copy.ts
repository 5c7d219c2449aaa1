import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminConfig } from '../../../shared/config/config.ts';
import { migrate } from '../../../shared/process/migrate.ts';
import { restoreBackup, verifyBackup } from './read.ts';
import { removeAtEnd } from './removed-at-end.ts';
import { type Manifest, writeBackup } from './write.ts';

type Store = Pick<AdminConfig, 'database' | 'queuePrefix'>;

/** Migrates both databases, and copies `from` to the empty `to` through a file in `folder`. Returns the row count. */
export async function copyDatabase(from: Store, to: Store, folder: string): Promise<number> {
  const file = join(folder, 'move.backup');
  // The file exists if an earlier move was killed.
  await rm(file, { force: true });
  using _file = removeAtEnd(file);
  await migrateStore(from);
  await writeBackup(from.database.directUrl, file);
  return await fillDatabase(to, file, await verifyBackup(file));
}

/** Migrates the empty database first. Returns the number of rows. */
export async function fillDatabase(store: Store, file: string, manifest: Manifest): Promise<number> {
  await migrateStore(store);
  return restoreBackup(store.database.directUrl, file, manifest);
}

function migrateStore({ database: { directUrl }, queuePrefix }: Store): Promise<void> {
  return migrate({ directUrl, queuePrefix });
}
