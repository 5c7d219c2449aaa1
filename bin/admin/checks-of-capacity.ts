import type { Pool } from 'pg';
import type { AdminConfig } from '../../shared/config/config.ts';
import { readDatabaseDisk } from '../../shared/db/disk.ts';
import { livingProcesses } from '../../shared/db/processes.ts';
import { readInstallation } from '../../shared/db/stores/installation.ts';
import { type Finding, fault, fine } from './checks.ts';

/** The share of the sessions of PostgreSQL that may be in use. */
const SESSIONS_IN_USE = 0.9;

/** Checks that PostgreSQL takes as many connections as the living processes open at most, and has some left. */
export async function checkConnections(pool: Pool): Promise<Finding> {
  const [{ sessions, sessionsMost: most }, living] = await Promise.all([
    readInstallation(pool),
    livingProcesses(pool),
  ]);
  const needed = living.reduce((sum, { settings }) => sum + (settings?.connections ?? 0), 0);
  const found = `${living.length} processes open up to ${needed} of ${most} connections`;
  if (needed > most)
    return fault(
      found,
      'raise max_connections, lower DATABASE_POOL, or put a pooler in transaction mode between',
    );
  return judgeSessions(found, sessions, most);
}

/** Judges the sessions that are in use of those that PostgreSQL takes. */
export function judgeSessions(found: string, sessions: number, most: number): Finding {
  return sessions > SESSIONS_IN_USE * most
    ? fault(
        `${found}, of which ${sessions} are in use`,
        'end sessions of others (pg_stat_activity), or raise max_connections',
      )
    : fine(found);
}

const GIB = 1024 ** 3;
/** Less than this, or less than this share of a disk and some room, fills up before anybody looks. */
const ROOM = { least: GIB, share: 0.05, plenty: 20 * GIB };

/** Checks the disk of PostgreSQL, where that runs on this machine and shows where its data are. */
export async function checkDisk(pool: Pool, { database }: AdminConfig): Promise<Finding> {
  const room = await readDatabaseDisk(pool, database.directUrl);
  return room === undefined
    ? fine('cannot be seen from here: watch it where PostgreSQL runs')
    : judgeRoom(room.free, room.size);
}

/** Judges the bytes that are free on a disk. */
export function judgeRoom(free: number, size: number): Finding {
  const found = `${(free / GIB).toFixed(1)} of ${(size / GIB).toFixed(1)} GiB are free where PostgreSQL keeps its data`;
  return free < ROOM.least || (free < ROOM.share * size && free < ROOM.plenty)
    ? fault(found, 'make room, or a larger disk: a full one ends every write with 503')
    : fine(found);
}
