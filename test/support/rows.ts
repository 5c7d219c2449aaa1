import type { System } from './system.ts';

interface PredictionRow {
  id: string;
  state: string;
  code: string | null;
  attempt: number;
  worker: string | null;
  waiters: string[];
  units: number;
  detached_at: Date | null;
  cancel_on_disconnect: boolean;
  started_at: Date | null;
  deadline_at: Date | null;
  ended_at: Date | null;
  /** True if the prediction has ended, and no answer of it is stored. */
  erased: boolean;
  profile_revision: string;
}

const ROW_QUERY = `
  select * from (
    select id, state, null as code, attempt, worker, waiters, 0 as units, detached_at, cancel_on_disconnect, started_at,
           deadline_at, null::timestamptz as ended_at, false as erased, 'none' as profile_revision
      from work where facts::json ->> 'requestId' = $1
     union all
    select h.id, h.state, h.code, h.attempt, null, '{}', h.units, null, false, h.started_at, null, h.ended_at, a.id is null,
           coalesce(h.report::json ->> 'profileRevision', 'none')
      from history h left join answers a on a.id = h.id where h.facts::json ->> 'requestId' = $1) r
   order by ended_at desc nulls first limit 1`;

export async function rowOf(
  { database }: Pick<System, 'database'>,
  { request_id }: { request_id: string },
): Promise<PredictionRow> {
  const { rows } = await database.pool.query<PredictionRow>(ROW_QUERY, [request_id]);
  const [row] = rows;
  if (row === undefined) throw new Error(`no row of ${request_id}`);
  return row;
}
