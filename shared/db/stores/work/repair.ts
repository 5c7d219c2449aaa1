import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';
import type { Subject } from './complete.ts';

/** Live work that has to end without an answer, or has lost its worker, and why. */
export interface Casualty extends Subject {
  kind: string;
  verdict: 'overdue' | 'abandoned' | 'detached' | 'orphaned';
}

const SURVEY = {
  name: 'survey_v1',
  text: 'select id, kind, party, month, verdict from survey_v1($1::text[], $2::uuid, $3::int, $4::int)',
};

/**
 * Finds work that is past its deadline, that nobody waits for any more, or whose worker died. A process that is only
 * slow comes back with its next heartbeat, so these verdicts have a grace period, and `judge`, which asks, must itself
 * have been connected for a lease.
 */
export function survey(
  pool: Pool,
  kinds: readonly string[],
  { judge, leaseMs }: { judge: string; leaseMs: number },
): Promise<Casualty[]> {
  return query<Casualty>(pool, SURVEY, [kinds, judge, leaseMs, ABANDON_AFTER_MS]);
}

const TAKE_OVER = { name: 'take_over_v2', text: 'select id from take_over_v1($1::uuid[]) as id' };

/** Queues orphaned work again, as a new attempt: if the process that ran it comes back, its answer is refused. */
export async function takeOver(pool: Pool, ids: readonly string[]): Promise<number> {
  return (await query(pool, TAKE_OVER, [ids])).length;
}

const ADOPT = { name: 'adopt_v1', text: 'select adopt_stranded_v1($1::uuid, $2::text[]) as adopted' };

/** Adopts what waits in the tables of the first edition although none of its processes takes it. */
export async function adoptStranded(pool: Pool, process: string, kinds: readonly string[]): Promise<number> {
  const [row] = await query<{ adopted: number }>(pool, ADOPT, [process, kinds]);
  return row?.adopted ?? 0;
}
