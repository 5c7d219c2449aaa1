import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** A step of the housekeeping, of which one process at a time runs a round. */
export interface RoundTerms {
  step: string;
  everyMs: number;
  /** Time for which the process must have sent heartbeats without a gap. */
  steadyMs?: number;
}

export interface EndedRound {
  step: string;
  succeeded: boolean;
}

const TURN_ROUNDS = {
  name: 'turn_rounds_v1',
  text: 'select turn_rounds_v1($1, $2::text[], $3::text[], $4::text[], $5::int[], $6::int[]) as begun',
};

/**
 * Ends rounds of this process, and begins one of each of these steps that is due and that no living process runs.
 * Returns the names of those begun.
 */
export async function turnRounds(
  pool: Pool,
  process: string,
  { ended, steps }: { ended: readonly EndedRound[]; steps: readonly RoundTerms[] },
): Promise<string[]> {
  const values = [
    process,
    ended.map(({ step }) => step),
    ended.filter(({ succeeded }) => succeeded).map(({ step }) => step),
    steps.map(({ step }) => step),
    steps.map(({ everyMs }) => everyMs),
    steps.map(({ steadyMs = 0 }) => steadyMs),
  ];
  const [row] = await query<{ begun: string[] }>(pool, TURN_ROUNDS, values);
  return row?.begun ?? [];
}

const READ_ROUNDS = {
  name: 'rounds_v1',
  text: `select step, every_ms as "everyMs", (extract(epoch from ended_at) * 1000)::float8 as "endedMs",
                extract(epoch from now() - coalesce(ended_at, began_at))::float8 as "ageS"
           from rounds order by step`,
};

export interface Round {
  step: string;
  everyMs: number;
  /** Unix milliseconds; null before the first round has ended. */
  endedMs: number | null;
  /** Seconds since the latest round that succeeded ended, or since the first one began; null before that. */
  ageS: number | null;
}

export function readRounds(pool: Pool): Promise<Round[]> {
  return query<Round & object>(pool, READ_ROUNDS, []);
}
