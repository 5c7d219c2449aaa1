import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

/** A piece of work that this process runs now, under its lease. */
export interface Claim<Facts = unknown> {
  id: string;
  kind: string;
  party: string;
  month: string | null;
  attempt: number;
  connectionId: string | null;
  input: string;
  facts: Facts;
  /** Milliseconds to the deadline, by the database's clock. */
  leftMs: number;
}

/** What a worker has room for: so many pieces in all, of each party that it serves already, and of any other one. */
export interface Room {
  slots: number;
  ofServed: ReadonlyMap<string, number>;
  ofOthers: number;
}

const CLAIM = {
  name: 'claim_v3',
  text: `select id, kind, party, month, attempt, connection_id as "connectionId", input, facts, left_ms as "leftMs"
           from claim_v3($1::text[], $2::uuid, $3::int, $4::uuid[], $5::int[], $6::int, $7::int)`,
};

const CLAIM_WITHIN_MS = 5000;

interface ClaimRow extends Omit<Claim, 'facts'> {
  id: string;
  facts: string;
}

/**
 * Takes the work that is first in the fair order of these kinds. Promise: an attempt runs in one process only.
 * `more` says that work waits which this claim did not take.
 *
 * Never repeated: after a lost answer the first try's claims would be nobody's. `straysOf` finds them.
 */
export async function claim(
  pool: Pool,
  kinds: readonly string[],
  worker: string,
  room: Room,
): Promise<{ claims: Claim[]; more: boolean }> {
  const rows = await query<ClaimRow | { id: null }>(
    pool,
    CLAIM,
    [
      kinds,
      worker,
      room.slots,
      [...room.ofServed.keys()],
      [...room.ofServed.values()],
      room.ofOthers,
      ABANDON_AFTER_MS,
    ],
    { withinMs: CLAIM_WITHIN_MS },
  );
  const claims = rows.flatMap((row) => (row.id === null ? [] : { ...row, facts: JSON.parse(row.facts) }));
  return { claims, more: claims.length < rows.length };
}

const RELEASE = { name: 'release_v1', text: 'select id from release_v1($1::uuid[], $2::uuid) as id' };

/** Gives claimed work back unfinished, so that another process takes it; consumes no attempt. Returns what it gave. */
export async function release(pool: Pool, ids: readonly string[], worker: string): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, RELEASE, [ids, worker]);
  return rows.map(({ id }) => id);
}

interface HeldRow {
  id: string;
  attempt: number;
}

const HELD = {
  name: 'held_v2',
  text: `select id, attempt from work where id = any ($1::uuid[]) and state = 'running' and worker = $2::uuid`,
};

/** Those of the ids that are still this process's: id → attempt. */
export async function heldAmong(
  pool: Pool,
  ids: readonly string[],
  worker: string,
): Promise<Map<string, number>> {
  const rows = await query<HeldRow>(pool, HELD, [ids, worker]);
  return new Map(rows.map(({ id, attempt }) => [id, attempt]));
}

const RECLAIM = {
  name: 'reclaim_v1',
  text: 'select id from reclaim_v1($1::uuid[], $2::int[], $3::uuid) as id',
};

/** Takes back those of the attempts that a crash of the database made queued again. Returns their ids. */
export async function reclaim(
  pool: Pool,
  attempts: ReadonlyMap<string, number>,
  worker: string,
): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, RECLAIM, [
    [...attempts.keys()],
    [...attempts.values()],
    worker,
  ]);
  return rows.map(({ id }) => id);
}

const STRAYS = {
  name: 'strays_v1',
  text: `select id from work where state = 'running' and worker = $1::uuid and id <> all ($2::uuid[])`,
};

/** What stands under this process's lease besides: a claim whose answer was lost. Reads all live work. */
export async function straysOf(pool: Pool, worker: string, known: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, STRAYS, [worker, known]);
  return rows.map(({ id }) => id);
}
