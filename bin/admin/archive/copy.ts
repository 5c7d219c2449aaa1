import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { AdminConfig } from '../../../shared/config/config.ts';
import { migrate } from '../../../shared/process/migrate.ts';
import { restoreBackup, verifyBackup } from './read.ts';
import { removeAtEnd } from './removed-at-end.ts';
import { type Manifest, writeBackup } from './write.ts';

type DatabaseSettings = Pick<AdminConfig, 'database' | 'queuePrefix'>;

/** Migrates both databases, and copies `from` to the empty `to` through a file in `folder`. Returns the row count. */
export async function copyDatabase(
  from: DatabaseSettings,
  to: DatabaseSettings,
  folder: string,
): Promise<number> {
  const file = join(folder, 'move.backup');
  // The file exists if an earlier move was killed.
  await rm(file, { force: true });
  using _file = removeAtEnd(file);
  await migrateDatabase(from);
  await writeBackup(from.database.directUrl, file);
  return await fillDatabase(to, file, await verifyBackup(file));
}

/** Migrates the empty database first. Returns the number of rows. */
export async function fillDatabase(
  to: DatabaseSettings,
  file: string,
  manifest: Manifest,
  finish?: (client: pg.Client) => Promise<void>,
): Promise<number> {
  await migrateDatabase(to);
  return restoreBackup(to.database.directUrl, file, manifest, finish);
}

function migrateDatabase({ database: { directUrl }, queuePrefix }: DatabaseSettings): Promise<void> {
  return migrate({ directUrl, queuePrefix });
}
