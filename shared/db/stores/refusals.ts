import type { Pool } from 'pg';
import { arraysOf } from '../rows.ts';
import { query } from '../statement.ts';

export interface RefusalCount {
  appId: string;
  code: string;
  calls: number;
}

/** Adds rows in key order, so that ingresses that lock the same rows cannot deadlock. */
const ADD_REFUSALS = {
  name: 'add_refusals_v1',
  text: `
    insert into refusals as r (hour, app_id, code, calls, last_at)
    select date_trunc('hour', now(), 'UTC'), u.app_id, u.code, u.calls, now()
      from unnest($1::uuid[], $2::text[], $3::int[]) u (app_id, code, calls)
     order by u.app_id, u.code
    on conflict (hour, app_id, code) do update
       set calls = r.calls + excluded.calls, last_at = excluded.last_at`,
};

/** After this time, the statement fails and is not retried: its counts may have been added. */
const ADD_TIMEOUT_MS = 2000;

export async function addRefusals(pool: Pool, counts: readonly RefusalCount[]): Promise<void> {
  const columns = arraysOf(counts, 'appId', 'code', 'calls');
  await query(pool, ADD_REFUSALS, columns, { withinMs: ADD_TIMEOUT_MS });
}

export interface RefusalSummary {
  code: string;
  calls: number;
  /** As the database writes it. */
  lastAt: string;
}

/** Condition for the current hour and `before` hours before it. */
const inLastHours = (before: number) => `
  hour = any (array(select date_trunc('hour', now(), 'UTC') - make_interval(hours => n) from generate_series(0, ${before}) n))`;

const REFUSALS_OF_APP = {
  name: 'refusals_of_app_v1',
  text: `
    select code, sum(calls)::int as calls, max(last_at) as "lastAt" from refusals
     where ${inLastHours(23)} and app_id = $1::uuid
     group by code order by max(last_at) desc, code`,
};

/** Covers the current hour and the 23 before it. The code with the latest call comes first. */
export function refusalsOf(pool: Pool, appId: string): Promise<RefusalSummary[]> {
  return query<RefusalSummary>(pool, REFUSALS_OF_APP, [appId]);
}

const REFUSALS_BY_APP = {
  name: 'refusals_by_app_v1',
  text: `select app_id as "appId", sum(calls)::int as calls from refusals where ${inLastHours(1)} group by app_id`,
};

/** Counts, by app id, the calls that ended with an error in this hour or the one before. */
export async function refusalsByApp(pool: Pool): Promise<Map<string, number>> {
  const rows = await query<{ appId: string; calls: number }>(pool, REFUSALS_BY_APP, []);
  return new Map(rows.map(({ appId, calls }) => [appId, calls]));
}
