import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** SQL that checks whether a lease is over: one that ends in over a minute was taken before the clock was set back. */
const IS_OVER = '(l.until <= now() or l.until > now() + clock_slack())';

const READ_LEASE = {
  name: 'lease_look_v2',
  text: `select holder, ${IS_OVER} as over from leases l where name = $1`,
};

const TAKE_LEASE = {
  name: 'lease_take_v3',
  text: `insert into leases as l (name, holder, until, rounds)
         values ($1, $2::uuid, now() + make_interval(secs => $3 / 1000.0), $4::jsonb)
         on conflict (name) do update
            set holder = excluded.holder, until = excluded.until, rounds = coalesce(l.rounds, '{}') || excluded.rounds
          where l.holder = excluded.holder or ${IS_OVER}
         returning holder`,
};

/**
 * Recurring tasks of the process that holds a lease, by name: their interval, and the end of the last run in Unix
 * milliseconds.
 */
export type LeaseRounds = Record<string, { everyMs: number; last: number }>;

/**
 * Takes or renews a lease for `ms`, less than a minute, and stores the times of the holder's recurring tasks
 * (`rounds`). Returns false while another process holds the lease. `renews` says that this process has just held it. A
 * lease is a row rather than an advisory lock, because such a lock belongs to a session, which a pooler shares among
 * clients.
 */
export async function takeLease(
  pool: Pool,
  name: string,
  { holder, ms, rounds, renews }: { holder: string; ms: number; rounds: LeaseRounds; renews: boolean },
): Promise<boolean> {
  // Reads first, so that a process that cannot have the lease writes nothing.
  const lease = renews
    ? undefined
    : (await query<{ holder: string; over: boolean }>(pool, READ_LEASE, [name]))[0];
  if (lease !== undefined && lease.holder !== holder && !lease.over) return false;
  return (await query(pool, TAKE_LEASE, [name, holder, ms, JSON.stringify(rounds)])).length > 0;
}

const YIELD_LEASE = {
  name: 'lease_yield_v1',
  text: 'update leases set until = now() where name = $1 and holder = $2::uuid',
};

export async function yieldLease(pool: Pool, name: string, holder: string): Promise<void> {
  await query(pool, YIELD_LEASE, [name, holder]);
}

const LEASE_ROUNDS = {
  name: 'lease_rounds_v1',
  text: 'select rounds from leases where name = $1 and rounds is not null',
};

export async function leaseRounds(pool: Pool, name: string): Promise<LeaseRounds> {
  const [row] = await query<{ rounds: LeaseRounds }>(pool, LEASE_ROUNDS, [name]);
  return row?.rounds ?? {};
}
