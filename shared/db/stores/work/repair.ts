import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';
import type { Subject } from './complete.ts';

/** Work that is over without an answer, or lost its worker, and why. */
export interface Casualty extends Subject {
  kind: string;
  verdict: 'overdue' | 'abandoned' | 'detached' | 'orphaned';
}

const SURVEY = {
  name: 'survey_v1',
  text: 'select id, kind, party, month, verdict from survey_v1($1::text[], $2::uuid, $3::int, $4::int)',
};

/**
 * What ran out of time, what nobody waits for any more, and what a dead worker ran. A process that was only slow is alive
 * again with its next heartbeat, so verdicts on the dead have a grace, and `judge` must have been connected for a lease.
 */
export function survey(
  pool: Pool,
  kinds: readonly string[],
  { judge, leaseMs }: { judge: string; leaseMs: number },
): Promise<Casualty[]> {
  return query<Casualty>(pool, SURVEY, [kinds, judge, leaseMs, ABANDON_AFTER_MS]);
}

const TAKE_OVER = { name: 'take_over_v2', text: 'select id from take_over_v1($1::uuid[]) as id' };

/** Frees what a dead process ran, as a new attempt: the dead one's answer, should it come, is refused. */
export async function takeOver(pool: Pool, ids: readonly string[]): Promise<number> {
  return (await query(pool, TAKE_OVER, [ids])).length;
}

const ADOPT = { name: 'adopt_v1', text: 'select adopt_stranded_v1($1::uuid, $2::text[]) as adopted' };

/** Takes over what waits in the tables of the first edition although none of its processes is left. */
export async function adoptStranded(pool: Pool, process: string, kinds: readonly string[]): Promise<number> {
  const [row] = await query<{ adopted: number }>(pool, ADOPT, [process, kinds]);
  return row?.adopted ?? 0;
}
