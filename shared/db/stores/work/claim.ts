import type { Pool } from 'pg';
import { Box } from '../../../box.ts';
import { query } from '../../statement.ts';

/** A party's work of one kind. */
export type Flow = { readonly kind: string; readonly party: string };

/** A piece of work that this process now runs, under its lease. */
export interface Claim<Facts = unknown> extends Flow {
  id: string;
  month: string | null;
  attempt: number;
  worker: string;
  connectionId: string | null;
  /** JSON. The attempt takes it from the box, so that the claim does not keep it in memory. */
  input: Box<string>;
  facts: Facts;
  /** From the admission to the claim, by the database's clock; `leftMs`: from the claim to the deadline. */
  queuedMs: number;
  leftMs: number;
  /** Time by which the pieces of its flow are ordered, in Unix milliseconds. */
  queuedAtMs: number;
  /** The latest answer of its line, while that is kept, as JSON (`latest_answer_v1`). */
  latest: string | null;
}

export interface FlowAsk extends Flow {
  readonly count: number;
  /** Time from which to search, in Unix milliseconds: older pieces were claimed before. Null: from `reachMs` ago. */
  readonly sinceMs: number | null;
}

export interface ClaimTerms {
  worker: string;
  /** The flows to serve, in this order. */
  asks: readonly FlowAsk[];
  slots: number;
  /** Kinds of which each party has at most one piece running, over all workers. */
  oneAtATime: readonly string[];
  /** Time span to search: no queued piece of these kinds entered its flow earlier. */
  reachMs: number;
}

export interface ClaimResult {
  claims: Claim[];
  left: Flow[];
}

export const CLAIM_COLUMNS = `id, kind, party, month, attempt, connection_id as "connectionId", input, facts, queued_ms as "queuedMs", left_ms as "leftMs", queued_at_ms as "queuedAtMs", latest`;

const CLAIM = {
  name: 'claim_v2',
  text: `select ${CLAIM_COLUMNS}
           from claim_v2($1::text[], $2::uuid[], $3::int[], $4::float8[], $5::int, $6::uuid, $7::text[], $8::int)`,
};

const CLAIM_TIMEOUT_MS = 5000;

/** A row of a claim. A row without an id names a flow in which the claim left work. */
export type ClaimRow =
  | (Omit<Claim, 'facts' | 'input' | 'worker'> & { facts: string; input: string })
  | (Flow & { id: null });

/**
 * Claims the oldest queued work of these flows. An attempt runs in one process only. Never retried: if the answer is
 * lost, `readHeldWork` finds what was claimed.
 */
export async function claim(pool: Pool, terms: ClaimTerms): Promise<ClaimResult> {
  const rows = await query<ClaimRow>(pool, CLAIM, claimParameters(terms), { withinMs: CLAIM_TIMEOUT_MS });
  return toClaimResult(rows, terms);
}

export function claimParameters({ worker, asks, slots, oneAtATime, reachMs }: ClaimTerms): unknown[] {
  return [
    asks.map(({ kind }) => kind),
    asks.map(({ party }) => party),
    asks.map(({ count }) => count),
    asks.map(({ sinceMs }) => sinceMs),
    slots,
    worker,
    oneAtATime,
    reachMs,
  ];
}

export function toClaimResult(
  rows: readonly ClaimRow[],
  { worker }: Pick<ClaimTerms, 'worker'>,
): ClaimResult {
  const claims: Claim[] = [];
  const left: Flow[] = [];
  for (const row of rows)
    if (row.id === null) left.push(row);
    else claims.push({ ...row, worker, input: new Box(row.input), facts: JSON.parse(row.facts) });
  return { claims, left };
}

const QUEUED_FLOWS = {
  name: 'queued_flows_v1',
  text: 'select kind, party from queued_flows_v1($1::text[])',
};

/** Reads the flows of the oldest and the newest queued work of these kinds: up to 250 pieces of a kind at each end. */
export function queuedFlows(pool: Pool, kinds: readonly string[]): Promise<Flow[]> {
  return query<Flow>(pool, QUEUED_FLOWS, [kinds]);
}

const RELEASE_WORK = { name: 'release_v1', text: 'select kind, party from release_v1($1::uuid[], $2::uuid)' };

/** Puts claimed work back into the queue, without consuming an attempt. Returns the flows of the work. */
export function release(pool: Pool, ids: readonly string[], worker: string): Promise<Flow[]> {
  return query<Flow>(pool, RELEASE_WORK, [ids, worker]);
}

const HELD_WORK = {
  name: 'held_v3',
  text: `select id, attempt from work where id = any ($2::uuid[]) and state = 'running' and worker = $1::uuid`,
};
/** Reads all live work, because no index names a column that a claim changes. */
const ALL_HELD_WORK = {
  name: 'all_held_v1',
  text: `select id, attempt from work where state = 'running' and worker = $1::uuid`,
};

/** Reads the work that a process holds, among these ids or all of it, as a map from id to attempt. */
export async function readHeldWork(
  pool: Pool,
  worker: string,
  ids?: readonly string[],
): Promise<Map<string, number>> {
  const rows = await (ids === undefined
    ? query<HeldWork>(pool, ALL_HELD_WORK, [worker])
    : query<HeldWork>(pool, HELD_WORK, [worker, ids]));
  return new Map(rows.map(({ id, attempt }) => [id, attempt]));
}

type HeldWork = Pick<Claim, 'id' | 'attempt'>;

const LIVE_WORK = { name: 'live_v1', text: 'select id from work where id = any ($1::uuid[])' };

export async function findLiveIds(pool: Pool, ids: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, LIVE_WORK, [ids]);
  return rows.map(({ id }) => id);
}

const RECLAIM_WORK = {
  name: 'reclaim_v1',
  text: 'select id from reclaim_v1($1::uuid[], $2::int[], $3::uuid) as id',
};

/** Takes back attempts whose claim a crash of the database has undone. Returns the ids of their work. */
export async function reclaim(
  pool: Pool,
  attempts: ReadonlyMap<string, number>,
  worker: string,
): Promise<string[]> {
  const rows = await query<{ id: string }>(pool, RECLAIM_WORK, [
    [...attempts.keys()],
    [...attempts.values()],
    worker,
  ]);
  return rows.map(({ id }) => id);
}
