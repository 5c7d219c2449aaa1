import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

/** A piece of work that this process now runs, under its lease. */
export interface Claim<Facts = unknown> {
  id: string;
  kind: string;
  party: string;
  month: string | null;
  attempt: number;
  /** This process. */
  worker: string;
  connectionId: string | null;
  input: string;
  facts: Facts;
  /** Milliseconds since the admission, and to the deadline, by the database's clock. */
  queuedMs: number;
  leftMs: number;
}

/** How many pieces a worker has room for: in all, of each party that it already serves, and of any other party. */
export interface Room {
  slots: number;
  ofServed: ReadonlyMap<string, number>;
  ofOthers: number;
}

/** The kinds of a pool, and those of them whose parties have one piece of work running at a time. */
export interface ClaimableKinds {
  names: readonly string[];
  oneAtATime: readonly string[];
}

export const CLAIM_COLUMNS = `id, kind, party, month, attempt, connection_id as "connectionId", input, facts, queued_ms as "queuedMs", left_ms as "leftMs"`;

const CLAIM = {
  name: 'claim_v5',
  text: `select ${CLAIM_COLUMNS}
           from claim_v5($1::text[], $2::text[], $3::uuid, $4::int, $5::uuid[], $6::int[], $7::int, $8::int)`,
};

const CLAIM_WITHIN_MS = 5000;

/** A row of a claim. One without an id says that work is left; its attempt, how much of it the next claim may take. */
export type ClaimRow = (Omit<Claim, 'facts' | 'worker'> & { facts: string }) | { id: null; attempt: number };

/** For which kinds and with which lease to claim, and how much. */
export interface ClaimTerms {
  kinds: ClaimableKinds;
  worker: string;
  room: Room;
}

/** What a claim took, and what it left. */
export interface Claimed {
  claims: Claim[];
  /** Work waits that it did not take. */
  more: boolean;
  /** The next claim may take some of that. */
  takeable: boolean;
}

/**
 * Claims the work that is first in the fair order of these kinds. Promise: an attempt runs in one process only.
 *
 * Never retried: if the answer is lost, this process does not know what it claimed. `straysOf` finds such work.
 */
export async function claim(pool: Pool, terms: ClaimTerms): Promise<Claimed> {
  const rows = await query<ClaimRow>(pool, CLAIM, claimParameters(terms), { withinMs: CLAIM_WITHIN_MS });
  return claimedBy(rows, terms);
}

export function claimParameters({ kinds, worker, room }: ClaimTerms): unknown[] {
  return [
    kinds.names,
    kinds.oneAtATime,
    worker,
    room.slots,
    [...room.ofServed.keys()],
    [...room.ofServed.values()],
    room.ofOthers,
    ABANDON_AFTER_MS,
  ];
}

export function claimedBy(rows: readonly ClaimRow[], { worker }: ClaimTerms): Claimed {
  const claims = rows.flatMap((row) =>
    row.id === null ? [] : { ...row, worker, facts: JSON.parse(row.facts) },
  );
  const rest = rows.find(({ id }) => id === null);
  return { claims, more: rest !== undefined, takeable: (rest?.attempt ?? 0) > 0 };
}

const RELEASE = { name: 'release_v1', text: 'select id from release_v1($1::uuid[], $2::uuid) as id' };

/**
 * Releases claimed work unfinished, so that another process claims it; consumes no attempt. Returns the released ids.
 */
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

/** The work among these ids that this process still holds: id → attempt. */
export async function heldAmong(
  pool: Pool,
  ids: readonly string[],
  worker: string,
): Promise<Map<string, number>> {
  const rows = await query<HeldRow>(pool, HELD, [ids, worker]);
  return new Map(rows.map(({ id, attempt }) => [id, attempt]));
}

const LIVE = { name: 'live_v1', text: 'select id from work where id = any ($1::uuid[])' };

/** The work among these ids that has not ended. */
export async function liveAmong(pool: Pool, ids: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, LIVE, [ids]);
  return rows.map(({ id }) => id);
}

const RECLAIM = {
  name: 'reclaim_v1',
  text: 'select id from reclaim_v1($1::uuid[], $2::int[], $3::uuid) as id',
};

/** Takes back attempts that a crash of the database queued again. Returns their ids. */
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

/** Work under this process's lease that it does not know of: a claim whose answer was lost. Reads all live work. */
export async function straysOf(pool: Pool, worker: string, known: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, STRAYS, [worker, known]);
  return rows.map(({ id }) => id);
}
