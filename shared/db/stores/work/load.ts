import type { Pool } from 'pg';
import { STANDING_QUEUE_WAIT_MS } from '../../../domain/load.ts';
import { query } from '../../statement.ts';

/** Maximum number of pieces read per kind, earliest deadlines first. `load_v1` reads one more for each slot. */
const PIECES_MAX = 1000;

export interface LoadRow {
  kind: string;
  queued: number;
  /** Number of parties whose oldest queued piece has waited for at least `STANDING_QUEUE_WAIT_MS`. */
  standing: number;
  /** Queue length of each party whose oldest queued piece has waited less. */
  queues: number[];
  running: number;
  oldestMs: number;
  lastClaimMs: number | null;
  workers: number;
  slots: number;
  claimed: number;
}

const READ_LOAD = {
  name: 'load_v1',
  text: `select kind, queued, standing, queues, running, oldest_ms as "oldestMs", last_claim_ms as "lastClaimMs", workers, slots, claimed
           from load_v1($1::text[], $2::text[], ${PIECES_MAX}, ${STANDING_QUEUE_WAIT_MS})`,
};

export function readLoad(pool: Pool, kinds: readonly { name: string; pool: string }[]): Promise<LoadRow[]> {
  return query<LoadRow>(pool, READ_LOAD, [kinds.map(({ name }) => name), kinds.map((kind) => kind.pool)]);
}

const COUNT_WAITING_PARTIES = {
  name: 'count_waiting_parties_v1',
  text: `select count(*)::int as n
           from (select k.name from unnest($1::text[]) k (name)
                  cross join lateral (
                    select w.party, w.state from work w
                     where w.kind = k.name and w.deadline_at > now()
                     order by w.deadline_at limit ${PIECES_MAX}) l
                  group by k.name, l.party
                 having bool_and(l.state = 'queued')) waiting`,
};

/**
 * Counts the parties that have queued but no running work, once for each kind, among the `PIECES_MAX` most urgent
 * pieces of the kind. A party with running work is not counted, because its next piece may wait for that work, and not
 * for a slot.
 */
export async function countWaitingParties(pool: Pool, kinds: readonly string[]): Promise<number> {
  const [row] = await query<{ n: number }>(pool, COUNT_WAITING_PARTIES, [kinds]);
  return row?.n ?? 0;
}
