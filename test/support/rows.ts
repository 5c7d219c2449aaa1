import type { System } from './system.ts';

/** A prediction's row, as far as tests look at it. */
export interface PredictionRow {
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
  deadline_at: Date;
  ended_at: Date | null;
  erased: boolean;
  profile_revision: string;
}

/** The row of a request as it is now. */
export async function rowOf(
  { database }: Pick<System, 'database'>,
  { request_id }: { request_id: string },
): Promise<PredictionRow> {
  const { rows } = await database.pool.query<PredictionRow>(
    'select * from predictions where request_id = $1',
    [request_id],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no row of ${request_id}`);
  return row;
}
