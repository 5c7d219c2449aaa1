import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** A step of the housekeeping, of which one process at a time runs a round. */
export interface RoundTerms {
  step: string;
  everyMs: number;
  process: string;
  /** Time for which the process must have sent heartbeats without a gap. */
  steadyMs?: number;
}

const BEGIN_ROUND = { name: 'begin_round_v1', text: 'select begin_round_v1($1, $2, $3, $4) as begun' };
const END_ROUND = { name: 'end_round_v1', text: 'select end_round_v1($1, $2, $3)' };

/** Returns false if a round of the step is not due, or a living process runs one. */
export async function beginRound(
  pool: Pool,
  { step, everyMs, process, steadyMs = 0 }: RoundTerms,
): Promise<boolean> {
  const [row] = await query<{ begun: boolean }>(pool, BEGIN_ROUND, [step, everyMs, process, steadyMs]);
  return row?.begun ?? false;
}

export async function endRound(
  pool: Pool,
  { step, process }: Pick<RoundTerms, 'step' | 'process'>,
  succeeded: boolean,
): Promise<void> {
  await query(pool, END_ROUND, [step, process, succeeded]);
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
