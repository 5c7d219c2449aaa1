import type { Pool } from 'pg';
import { STANDING_MS } from '../../../domain/load.ts';
import { query } from '../../statement.ts';

/** The most queued pieces of a kind that are read. */
const MOST = 1000;

/** The queued and running work of a kind, and the living workers of its pool. */
export interface LoadRow {
  kind: string;
  queued: number;
  /** The number of parties whose work has waited for `STANDING_MS`, and the queue of each other one. */
  standing: number;
  queues: number[];
  running: number;
  oldestMs: number;
  lastClaimMs: number | null;
  workers: number;
  slots: number;
  claimed: number;
}

const LOAD = {
  name: 'load_v1',
  text: `select kind, queued, standing, queues, running, oldest_ms as "oldestMs", last_claim_ms as "lastClaimMs", workers, slots, claimed
           from load_v1($1::text[], $2::text[], ${MOST}, ${STANDING_MS})`,
};

/** Reads the load of these kinds, with that of the pools that serve them. */
export function readLoad(pool: Pool, kinds: readonly { name: string; pool: string }[]): Promise<LoadRow[]> {
  return query<LoadRow>(pool, LOAD, [kinds.map(({ name }) => name), kinds.map((kind) => kind.pool)]);
}
