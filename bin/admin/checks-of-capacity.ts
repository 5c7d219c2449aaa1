import type { Pool } from 'pg';
import type { AdminConfig } from '../../shared/config/config.ts';
import { readDatabaseDisk } from '../../shared/db/disk.ts';
import { livingProcesses } from '../../shared/db/living-processes.ts';
import { readInstallation } from '../../shared/db/stores/installation.ts';
import { type Finding, fault, fine } from './checks.ts';

const SESSION_SHARE_MAX = 0.9;

export async function checkConnections(pool: Pool): Promise<Finding> {
  const [{ sessions, maxSessions: max }, living] = await Promise.all([
    readInstallation(pool),
    livingProcesses(pool),
  ]);
  const needed = living.reduce((sum, { settings }) => sum + settings.connections, 0);
  const found = `${living.length} processes open up to ${needed} of ${max} connections`;
  if (needed > max)
    return fault(
      found,
      'raise max_connections, lower DATABASE_POOL, or put a pooler in transaction mode between',
    );
  return judgeSessions(found, sessions, max);
}

function judgeSessions(found: string, sessions: number, max: number): Finding {
  return sessions > SESSION_SHARE_MAX * max
    ? fault(
        `${found}, of which ${sessions} are in use`,
        'end sessions of others (pg_stat_activity), or raise max_connections',
      )
    : fine(found);
}

const GIB = 1024 ** 3;
/** Free space is too small if it is below `min`, or below both `plenty` and `minShare` of the disk. */
const FREE_SPACE_LIMITS = { min: GIB, minShare: 0.05, plenty: 20 * GIB };

export async function checkDisk(pool: Pool, { database }: AdminConfig): Promise<Finding> {
  const disk = await readDatabaseDisk(pool, database.directUrl);
  return disk === undefined
    ? fine('cannot be seen from here: watch it where PostgreSQL runs')
    : judgeFreeSpace(disk.free, disk.size);
}

function judgeFreeSpace(free: number, size: number): Finding {
  const found = `${(free / GIB).toFixed(1)} of ${(size / GIB).toFixed(1)} GiB are free where PostgreSQL keeps its data`;
  return free < FREE_SPACE_LIMITS.min ||
    (free < FREE_SPACE_LIMITS.minShare * size && free < FREE_SPACE_LIMITS.plenty)
    ? fault(found, 'make room, or get a larger disk: a full one ends every write with 503')
    : fine(found);
}
