import type { Pool } from 'pg';
import { query } from '../statement.ts';

export interface Installation {
  erasing: number;
  /** 0 if no account is being erased. */
  oldestErasureS: number;
  /** Units of all apps in this month: `reserved` for predictions that have not ended, `settled` for charged ones. */
  reserved: number;
  settled: number;
  /** Includes the sessions of autovacuum, which an ordinary role cannot recognize in pg_stat_activity. */
  sessions: number;
  /** Number of sessions that roles other than superusers may open. */
  maxSessions: number;
  /** Number of live processes, by kind. */
  processes: Record<string, number>;
}

const READ_INSTALLATION = {
  name: 'installation_v1',
  text: `
    select e.*, u.*, s.*, p.*
      from (select count(*)::int as erasing,
                   -- An erasure began with the last change of the account: erasing_at is a lease.
                   coalesce(extract(epoch from now() - min(updated_at)), 0)::float8 as "oldestErasureS"
              from accounts where erasing_at is not null) e,
           (select coalesce(sum(g.reserved), 0)::float8 as reserved, coalesce(sum(g.settled), 0)::float8 as settled
              from apps a cross join lateral (
                -- Looks up each app's month by key: a condition on the month alone would read all past months.
                select n.reserved, n.settled from usage n
                 where n.app_id = a.id and n.month = month_of(now()) order by n.page desc limit 1) g) u,
           (select (select sum(numbackends)::int from pg_stat_database) as sessions,
                   current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                     - coalesce(current_setting('reserved_connections', true)::int, 0) as "maxSessions") s,
           (select coalesce(json_object_agg(kind, living), '{}') as processes
              from (select kind, count(*)::int as living from processes
                     where is_alive(alive_until) group by kind) k) p`,
};

export async function readInstallation(pool: Pool): Promise<Installation> {
  const [row] = await query<Installation & object>(pool, READ_INSTALLATION, []);
  if (row === undefined) throw new Error('the database answered nothing');
  return row;
}
