import type { Pool } from 'pg';
import { oneRow } from '../../rows.ts';
import { query } from '../../statement.ts';

/** Maximum number of rows of live work that are read per kind, besides one per slot of the kind's pool. */
const LIVE_WORK_MAX = 2000;
const LISTED_PARTIES_MAX = 12;

export interface LiveParty {
  party: string;
  /** Name of the app; null if the party is an account. */
  app: string | null;
  queued: number;
  running: number;
  oldestS: number | null;
}

/** A process, as of its last heartbeat. */
export interface ShownProcess {
  id: string;
  kind: string;
  version: string;
  /** Where it runs, and the port that it listens on. Null for a process of an earlier version. */
  host: string | null;
  pid: number | null;
  port: number | null;
  /** Seconds by which its clock is ahead of the database's. */
  clockAheadS: number;
  /** Seconds to the end of its lease; negative after the end. */
  leaseS: number;
  /** Seconds for which its heartbeats have been unbroken. */
  steadyS: number | null;
  pools: Record<string, { slots: number; claimed: number }>;
  /** Number of rows of work that the process is running. */
  holds: number;
}

export interface LiveOverview {
  parties: LiveParty[];
  processes: ShownProcess[];
}

const READ_LIVE_OVERVIEW = {
  name: 'board_live_v1',
  text: `
    with slots as (
      select e.key as pool, sum((e.value ->> 'slots')::int)::int as slots
        from processes a cross join lateral jsonb_each(a.pools) e
       where is_alive(a.alive_until) and a.pools is not null group by e.key
    ), live as materialized (
      select w.party, w.state, w.worker, w.admitted_at
        from (select kind, ${LIVE_WORK_MAX} + coalesce(s.slots, 0) as rows_max
                from unnest($1::text[], $2::text[]) k (kind, pool) left join slots s on s.pool = k.pool) k
       cross join lateral (
         select w.party, w.state, w.worker, w.admitted_at from work w
          where w.kind = k.kind and w.deadline_at > now()
          order by w.deadline_at limit k.rows_max) w
    ), counted as (
      select party, count(*) filter (where state = 'queued') as queued,
             count(*) filter (where state = 'running') as running,
             extract(epoch from now() - min(admitted_at) filter (where state = 'queued'))::int as "oldestS"
        from live group by party
    )
    select
      (select coalesce(json_agg(p), '[]')
         from (select c.party, a.name as app, c.queued, c.running, c."oldestS"
                 from counted c left join apps a on a.id = c.party
                order by c.running + c.queued desc, c.party limit ${LISTED_PARTIES_MAX}) p) as parties,
      (select coalesce(json_agg(p), '[]')
         from (select a.id, a.kind, a.settings ->> 'version' as version,
                      a.settings ->> 'host' as host, (a.settings ->> 'pid')::int as pid, (a.settings ->> 'port')::int as port,
                      coalesce((a.settings ->> 'clock_ahead_s')::int, 0) as "clockAheadS", coalesce(a.pools, '{}') as pools,
                      extract(epoch from a.alive_until - now())::float8 as "leaseS",
                      extract(epoch from now() - a.since)::int as "steadyS",
                      (select count(*) from live l where l.worker = a.id) as holds
                 from processes a where a.alive_until > now() - interval '5 minutes' and a.settings is not null
                order by a.alive_until <= now(), a.kind, a.id limit 100) p) as processes`,
};

/** Reads a bounded number of rows, in one statement. */
export function readLiveOverview(
  pool: Pool,
  kinds: readonly { name: string; pool: string }[],
): Promise<LiveOverview> {
  return oneRow(
    query<LiveOverview & object>(pool, READ_LIVE_OVERVIEW, [
      kinds.map(({ name }) => name),
      kinds.map((kind) => kind.pool),
    ]),
  );
}
