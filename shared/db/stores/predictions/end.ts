import type { Pool } from 'pg';
import type { ErrorCode, ErrorSource } from '../../../errors/catalogue.ts';
import { query } from '../../statement.ts';

/**
 * What must still be true of the row for an ending to take effect, besides that it has not ended:
 * `attempt`: this worker runs this attempt · `queued`: this attempt was never claimed · `live`: nothing more ·
 * `overdue`: the deadline is over · `abandoned`: queued, and no caller waits · `detached`: no caller waits.
 */
export type Guard =
  | { guard: 'attempt'; attempt: number; worker: string }
  | { guard: 'queued'; attempt: number }
  | { guard: 'live' | 'overdue' | 'abandoned' | 'detached' };

/** How a prediction ends. A suggestion settles its unit, everything else returns it. */
export type End =
  | { state: 'suggested'; answer: string; truncated: boolean; providerMs: number | null }
  | { state: 'abstained'; truncated: boolean; providerMs: number | null }
  | { state: 'cancelled'; code: 'prediction_cancelled' }
  | { state: 'failed'; code: ErrorCode | 'abandoned'; source?: ErrorSource; providerMs?: number | null };

export type Ending = { id: string; appId: string; month: string } & Guard & End;

const END = { name: 'end_v1', text: 'select place from end_v1($1::json, $2::int)' };

/**
 * Ends predictions and their units, in one transaction. Promise: one end and one settlement for each admission,
 * whoever tries; a zombie's late answer is refused by its attempt number (false in its place).
 */
export async function end(pool: Pool, batch: Ending[], recoveryWindowS: number): Promise<boolean[]> {
  const rows = await query<{ place: number }>(pool, END, [endings(batch), recoveryWindowS]);
  const done = new Set(rows.map((row) => row.place));
  return batch.map((_, place) => done.has(place));
}

/** The batch as `end_v1` takes it. */
export function endings(batch: Ending[]): string {
  return JSON.stringify(batch.map((ending, place) => ({ place, ...row(ending) })));
}

function row(ending: Ending) {
  return {
    id: ending.id,
    app_id: ending.appId,
    month: ending.month,
    guard: ending.guard,
    attempt: 'attempt' in ending ? ending.attempt : null,
    worker: 'worker' in ending ? ending.worker : null,
    state: ending.state,
    code: 'code' in ending ? ending.code : null,
    source: 'source' in ending ? ending.source : null,
    answer: 'answer' in ending ? ending.answer : null,
    truncated: 'truncated' in ending && ending.truncated,
    provider_ms: 'providerMs' in ending ? ending.providerMs : null,
  };
}
