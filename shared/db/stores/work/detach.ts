import type { Pool } from 'pg';
import { query } from '../../statement.ts';
import type { Subject } from './complete.ts';

const DETACH = {
  name: 'detach_v2',
  text: 'select id, party, month from detach_v1($1::uuid[], $2::uuid)',
};

/**
 * Says that this ingress has no caller left that waits for the work. In the place of each id that nobody at all waits
 * for any more, and whose latest caller wanted it cancelled then, stands the work.
 */
export async function detach(
  pool: Pool,
  ids: readonly string[],
  process: string,
): Promise<(Subject | undefined)[]> {
  const unwanted = await query<Subject>(pool, DETACH, [ids, process]);
  return ids.map((id) => unwanted.find((one) => one.id === id));
}
