import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { Backup } from '../entities/process.ts';
import { oneRow } from '../rows.ts';
import { query, transaction } from '../statement.ts';

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
  /** The largest part that an app has used of its cap for this month; null if no app has a cap. */
  capUsed: number | null;
  /** Seconds since the latest `admin backup`; null if there was none. */
  backupS: number | null;
  /** Deliveries to webhooks that are to be sent, counted up to 10,000, and that failed in the last 24 hours. */
  pendingDeliveries: number;
  failedDeliveries: number;
  /** Seconds for which the delivery has been due that has waited longest, of webhooks that do not fail. */
  overdueDeliveryS: number;
  /** Number of live processes, by kind. */
  processes: Record<string, number>;
}

const DELIVERIES_MAX = 10_000;

const READ_INSTALLATION = {
  name: 'installation_v1',
  text: `
    select e.*, u.*, s.*, b.*, d.*, o.*, f.*, p.*
      from (select count(*)::int as erasing,
                   -- An erasure began with the last change of the account: erasing_at is a lease.
                   coalesce(extract(epoch from now() - min(updated_at)), 0)::float8 as "oldestErasureS"
              from accounts where erasing_at is not null) e,
           (select coalesce(sum(g.reserved), 0)::float8 as reserved, coalesce(sum(g.settled), 0)::float8 as settled,
                   max(case when a.cap_cents > 0 then g.microcents / a.cap_cents / 1e6 end)::float8 as "capUsed"
              from apps a cross join lateral (
                -- Looks up each app's month by key: a condition on the month alone would read all past months.
                select n.reserved, n.settled, n.paid_reserved_microcents + n.paid_settled_microcents as microcents
                  from usage n
                 where n.app_id = a.id and n.month = month_of(now()) order by n.page desc limit 1) g) u,
           (select (select sum(numbackends)::int from pg_stat_database) as sessions,
                   current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                     - coalesce(current_setting('reserved_connections', true)::int, 0) as "maxSessions") s,
           (select extract(epoch from now() - max(taken_at))::float8 as "backupS" from backups) b,
           (select count(*)::int as "pendingDeliveries"
              from (select from deliveries where next_attempt_at is not null limit ${DELIVERIES_MAX}) n) d,
           (select greatest(coalesce(extract(epoch from now() - min(n.next_attempt_at)), 0), 0)::float8
                     as "overdueDeliveryS"
              from webhooks w cross join lateral (
                select o.next_attempt_at from deliveries o
                 where o.webhook_id = w.id and o.next_attempt_at is not null order by o.next_attempt_at limit 1) n
             where w.failing_since is null) o,
           (select count(*)::int as "failedDeliveries"
              from (select from deliveries
                     where state = 'failed' and last_attempt_at > now() - interval '24 hours' limit ${DELIVERIES_MAX}) n) f,
           (select coalesce(json_object_agg(kind, living), '{}') as processes
              from (select kind, count(*)::int as living from processes
                     where is_alive(alive_until) group by kind) k) p`,
};

/** Notes that a backup was taken, so that monitoring knows its age. */
export async function noteBackup(em: EntityManager, takenAt: Date): Promise<void> {
  await transaction(em, async (tx) => {
    await tx.nativeDelete(Backup, {});
    await tx.insert(Backup, { takenAt });
  });
}

export async function readInstallation(pool: Pool): Promise<Installation> {
  return oneRow(query<Installation & object>(pool, READ_INSTALLATION, []));
}
