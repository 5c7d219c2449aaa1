import { stat, statfs } from 'node:fs/promises';
import type { Pool } from 'pg';
import type { AdminConfig } from '../../shared/config/config.ts';
import { livingProcesses } from '../../shared/db/processes.ts';
import { type Finding, fault, fine, one } from './checks.ts';

const CONNECTIONS = `
  select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0) as most`;

/** Checks that PostgreSQL takes as many connections as the living processes open at most. */
export async function checkConnections(pool: Pool): Promise<Finding> {
  const [{ most }, living] = await Promise.all([
    one<{ most: number }>(pool, CONNECTIONS),
    livingProcesses(pool),
  ]);
  const needed = living.reduce((sum, { settings }) => sum + (settings?.connections ?? 0), 0);
  const found = `${living.length} processes open up to ${needed} of ${most} connections`;
  return needed <= most
    ? fine(found)
    : fault(found, 'raise max_connections, lower DATABASE_POOL, or put a pooler in transaction mode between');
}

const GIB = 1024 ** 3;
/** Less than this, or less than this share of a disk and some room, fills up before anybody looks. */
const ROOM = { least: GIB, share: 0.05, plenty: 20 * GIB };
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|)$/;
const DATA_DIRECTORY = `select setting as folder from pg_settings where name = 'data_directory'`;

/** Checks the disk of PostgreSQL, where that runs on this machine and shows where its data are. */
export async function checkDisk(pool: Pool, { database }: AdminConfig): Promise<Finding> {
  const { rows } = await pool.query<{ folder: string }>(DATA_DIRECTORY);
  const folder = rows[0]?.folder;
  const isHere = LOOPBACK.test(new URL(database.directUrl).hostname);
  if (folder === undefined || !isHere || !(await isThere(folder)))
    return fine('cannot be seen from here: watch it where PostgreSQL runs');
  const { bavail, blocks, bsize } = await statfs(folder);
  return judgeRoom(bavail * bsize, blocks * bsize);
}

/** Judges the bytes that are free on a disk. */
export function judgeRoom(free: number, size: number): Finding {
  const found = `${(free / GIB).toFixed(1)} of ${(size / GIB).toFixed(1)} GiB are free where PostgreSQL keeps its data`;
  return free < ROOM.least || (free < ROOM.share * size && free < ROOM.plenty)
    ? fault(found, 'make room, or a larger disk: a full one ends every write with 503')
    : fine(found);
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
