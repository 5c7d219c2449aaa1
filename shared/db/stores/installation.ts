import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** State of the whole installation that an operator watches, besides its queues. */
export interface Installation {
  /** Accounts that are being erased, and since when the oldest of them is. */
  erasing: number;
  oldestErasureS: number;
  /** Units of this month, of all apps. */
  reserved: number;
  settled: number;
  /**
   * Sessions that PostgreSQL has, those of autovacuum too, and how many it takes of roles that are not superusers. In
   * pg_stat_activity an ordinary role cannot tell the sessions of others.
   */
  sessions: number;
  sessionsMost: number;
  /** Living processes, by their kind. */
  processes: Record<string, number>;
}

const READ = {
  name: 'installation_v3',
  text: `
    select e.*, u.*, s.*, p.*
      from (select count(*)::int as erasing,
                   coalesce(extract(epoch from now() - min(erasing_at)), 0)::float8 as "oldestErasureS"
              from accounts where erasing_at is not null) e,
           (select coalesce(sum(reserved), 0)::float8 as reserved, coalesce(sum(settled), 0)::float8 as settled
              from usage where month = month_of(now())) u,
           (select (select sum(numbackends)::int from pg_stat_database) as sessions,
                   current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                     - coalesce(current_setting('reserved_connections', true)::int, 0) as "sessionsMost") s,
           (select coalesce(json_object_agg(kind, living), '{}') as processes
              from (select kind, count(*)::int as living from processes
                     where alive_until > clock_timestamp() group by kind) k) p`,
};

/** Reads the state of the installation. */
export async function readInstallation(pool: Pool): Promise<Installation> {
  const [row] = await query<Installation & object>(pool, READ, []);
  if (row === undefined) throw new Error('the database answered nothing');
  return row;
}
