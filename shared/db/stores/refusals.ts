import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** Calls of an app that ended with an error's code. */
export interface RefusalCount {
  appId: string;
  code: string;
  calls: number;
}

/** In the order of the keys: several ingresses add to the same rows. */
const ADD = {
  name: 'add_refusals_v1',
  text: `
    insert into refusals as r (hour, app_id, code, calls, last_at)
    select date_trunc('hour', now(), 'UTC'), u.app_id, u.code, u.calls, now()
      from unnest($1::uuid[], $2::text[], $3::int[]) u (app_id, code, calls)
     order by u.app_id, u.code
    on conflict (hour, app_id, code) do update
       set calls = r.calls + excluded.calls, last_at = excluded.last_at`,
};

/** Not repeated when its answer is lost: it would count twice. */
const WITHIN_MS = 2000;

/** Adds to the counts of this hour. */
export async function addRefusals(pool: Pool, counts: readonly RefusalCount[]): Promise<void> {
  const columns = [
    counts.map(({ appId }) => appId),
    counts.map(({ code }) => code),
    counts.map(({ calls }) => calls),
  ];
  await query(pool, ADD, columns, { withinMs: WITHIN_MS });
}

/** The errors with one code of an app's calls. */
export interface Refusals {
  code: string;
  calls: number;
  lastAt: Date;
}

/** The hours that are looked at; this one is not over. */
const HOURS = (most: number) => `
  hour = any (array(select date_trunc('hour', now(), 'UTC') - make_interval(hours => n) from generate_series(0, ${most}) n))`;

const OF_APP = {
  name: 'refusals_of_app_v1',
  text: `
    select code, sum(calls)::int as calls, max(last_at) as "lastAt" from refusals
     where ${HOURS(23)} and app_id = $1::uuid
     group by code order by max(last_at) desc, code`,
};

/** An app's errors of the last 24 hours by code, the latest first. */
export function refusalsOf(pool: Pool, appId: string): Promise<Refusals[]> {
  return query<Refusals>(pool, OF_APP, [appId]);
}

const BY_APP = {
  name: 'refusals_by_app_v1',
  text: `select app_id as "appId", sum(calls)::int as calls from refusals where ${HOURS(1)} group by app_id`,
};

/** How many calls of each app ended with an error in this hour and the one before. */
export async function refusalsByApp(pool: Pool): Promise<Map<string, number>> {
  const rows = await query<{ appId: string; calls: number }>(pool, BY_APP, []);
  return new Map(rows.map(({ appId, calls }) => [appId, calls]));
}
