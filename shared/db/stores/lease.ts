import type { Pool } from 'pg';
import { query } from '../statement.ts';

const LOOK = {
  name: 'lease_look_v1',
  text: 'select holder, until <= now() as over from leases where name = $1',
};

const TAKE = {
  name: 'lease_take_v1',
  text: `insert into leases as l (name, holder, until) values ($1, $2::uuid, now() + make_interval(secs => $3 / 1000.0))
         on conflict (name) do update set holder = excluded.holder, until = excluded.until
          where l.holder = excluded.holder or l.until <= now()
         returning holder`,
};

/**
 * Takes or renews a lease for `ms`; false while another process holds it. A row and not an advisory lock, because those
 * belong to sessions, which a pooler shares among clients.
 */
export async function takeLease(pool: Pool, name: string, holder: string, ms: number): Promise<boolean> {
  // A process that cannot have it writes nothing.
  const [lease] = await query<{ holder: string; over: boolean }>(pool, LOOK, [name]);
  if (lease !== undefined && lease.holder !== holder && !lease.over) return false;
  return (await query(pool, TAKE, [name, holder, ms])).length > 0;
}

const YIELD = {
  name: 'lease_yield_v1',
  text: 'update leases set until = now() where name = $1 and holder = $2::uuid',
};

/** Gives the lease up at once, so that another process need not wait for it to expire. */
export async function yieldLease(pool: Pool, name: string, holder: string): Promise<void> {
  await query(pool, YIELD, [name, holder]);
}
