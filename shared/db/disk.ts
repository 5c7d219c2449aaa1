import { stat, statfs } from 'node:fs/promises';
import type { Pool } from 'pg';
import { query } from './statement.ts';

/** Size and free space of a disk, in bytes. */
export interface DiskSpace {
  free: number;
  size: number;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|)$/;
/** Returns no row to a role that may not read this setting. */
const DATA_DIRECTORY = {
  name: 'data_directory_v1',
  text: `select setting as folder from pg_settings where name = 'data_directory'`,
};

/** Reads the space on the disk of PostgreSQL's data; undefined if PostgreSQL runs elsewhere or hides its folder. */
export async function readDatabaseDisk(pool: Pool, directUrl: string): Promise<DiskSpace | undefined> {
  if (!LOOPBACK.test(new URL(directUrl).hostname)) return undefined;
  const [row] = await query<{ folder: string }>(pool, DATA_DIRECTORY, []);
  if (row === undefined || !(await exists(row.folder))) return undefined;
  const { bavail, blocks, bsize } = await statfs(row.folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
