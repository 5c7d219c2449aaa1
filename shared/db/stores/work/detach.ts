import type { Pool } from 'pg';
import { query } from '../../statement.ts';
import type { Subject } from './complete.ts';

const DETACH = {
  name: 'detach_v2',
  text: 'select id, party, month from detach_v1($1::uuid[], $2::uuid)',
};

/**
 * Records that no caller of this ingress waits for the work any more. Returns, in the place of each id, the work if no
 * ingress waits for it now and its latest caller wanted it cancelled in that case; otherwise undefined.
 */
export async function detach(
  pool: Pool,
  ids: readonly string[],
  process: string,
): Promise<(Subject | undefined)[]> {
  const unwanted = await query<Subject>(pool, DETACH, [ids, process]);
  return ids.map((id) => unwanted.find((one) => one.id === id));
}
