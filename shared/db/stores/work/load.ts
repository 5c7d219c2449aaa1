import type { Pool } from 'pg';
import { query } from '../../statement.ts';

/** Maximum number of pieces read per kind, earliest deadlines first, besides one for each slot of its pool. */
const PIECES_MAX = 1000;

/** Counts of a kind's work, with the living workers of its pool. */
export interface LoadRow {
  kind: string;
  queued: number;
  running: number;
  /** True if these counts are minimums, because not all of the kind's work was read. */
  isMore: boolean;
  /** Time that the oldest queued piece has waited; 0 if none waits. */
  oldestMs: number;
  workers: number;
  slots: number;
  /** Number of pieces of work that these workers have claimed since they started. */
  claimed: number;
  /** When the pool was paused, in Unix milliseconds; null unless it is. */
  pausedAt: number | null;
}

const READ_LOAD = {
  name: 'load_v1',
  text: `
    with living as (
      select e.key as pool, count(*)::int as workers, sum((e.value ->> 'slots')::int)::int as slots,
             sum((e.value ->> 'claimed')::bigint)::float8 as claimed
        from processes a cross join lateral jsonb_each(a.pools) e
       where is_alive(a.alive_until) and a.pools is not null group by e.key)
    select k.kind, l.queued, l.running, l.read >= ${PIECES_MAX} + coalesce(p.slots, 0) as "isMore",
           coalesce(l."oldestMs", 0) as "oldestMs", coalesce(p.workers, 0) as workers,
           coalesce(p.slots, 0) as slots, coalesce(p.claimed, 0) as claimed,
           (select (extract(epoch from q.paused_at) * 1000)::float8 from paused_pools q where q.pool = k.pool) as "pausedAt"
      from unnest($1::text[], $2::text[]) as k (kind, pool)
      left join living p on p.pool = k.pool
     cross join lateral (
       select count(*) as read, (count(*) filter (where w.state = 'queued'))::int as queued,
              (count(*) filter (where w.state = 'running'))::int as running,
              ms_since(min(w.admitted_at) filter (where w.state = 'queued')) as "oldestMs"
         from (select state, admitted_at from work
                where kind = k.kind and deadline_at > now()
                order by deadline_at limit ${PIECES_MAX} + coalesce(p.slots, 0)) w) l`,
};

export function readLoad(pool: Pool, kinds: readonly { name: string; pool: string }[]): Promise<LoadRow[]> {
  return query<LoadRow>(pool, READ_LOAD, [kinds.map(({ name }) => name), kinds.map((kind) => kind.pool)]);
}

const COUNT_WAITING_PARTIES = {
  name: 'count_waiting_parties_v1',
  text: `select count(*)::int as n
           from (select k.name from unnest($1::text[]) k (name)
                  cross join lateral (
                    select w.party, w.state from work w
                     where w.kind = k.name and w.deadline_at > now()
                     order by w.deadline_at limit ${PIECES_MAX}) l
                  group by k.name, l.party
                 having bool_and(l.state = 'queued')) waiting`,
};

/**
 * Counts the parties that have queued but no running work, once for each kind, among the `PIECES_MAX` most urgent
 * pieces of the kind. A party with running work is not counted, because its next piece may wait for that work, and not
 * for a slot.
 */
export async function countWaitingParties(pool: Pool, kinds: readonly string[]): Promise<number> {
  const [row] = await query<{ n: number }>(pool, COUNT_WAITING_PARTIES, [kinds]);
  return row?.n ?? 0;
}
