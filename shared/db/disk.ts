import { stat, statfs } from 'node:fs/promises';
import type { Pool } from 'pg';
import { query } from './statement.ts';

/** The bytes of a disk, and those that are free. */
export interface Room {
  free: number;
  size: number;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|)$/;
/** No row for a role that may not read it. */
const DATA_DIRECTORY = {
  name: 'data_directory_v1',
  text: `select setting as folder from pg_settings where name = 'data_directory'`,
};

/** Reads the disk of PostgreSQL, where that runs on this machine and shows where its data are. */
export async function readDatabaseDisk(pool: Pool, directUrl: string): Promise<Room | undefined> {
  if (!LOOPBACK.test(new URL(directUrl).hostname)) return undefined;
  const [row] = await query<{ folder: string }>(pool, DATA_DIRECTORY, []);
  if (row === undefined || !(await isThere(row.folder))) return undefined;
  const { bavail, blocks, bsize } = await statfs(row.folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
