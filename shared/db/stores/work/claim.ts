import type { Pool } from 'pg';
import { Box } from '../../../box.ts';
import { type Queryable, query } from '../../statement.ts';

/** A flow: the queue of one party (an app or account) for one kind of work. */
export type Flow = { readonly kind: string; readonly party: string };

export type QueuedWork = Flow & { readonly id: string };

/** A piece of work that a worker process has claimed and now runs. */
export interface Claim<Facts = unknown> extends Flow {
  id: string;
  month: string | null;
  attempt: number;
  worker: string;
  connectionId: string | null;
  /** JSON text. The attempt takes it out of the box, so that the claim does not keep it in memory. */
  input: Box<string>;
  facts: Facts;
  /** Time from admission to claim, by the database's clock; `leftMs` is the time from the claim to the deadline. */
  queuedMs: number;
  leftMs: number;
  /** Time that decides the order in a flow, in Unix milliseconds: the earliest is claimed first. */
  queuedAtMs: number;
  /** Result of the kind's `recall`, as JSON; null if there is none. */
  recalled: string | null;
}

export interface FlowRequest extends Flow {
  readonly count: number;
  /**
   * Searches only work queued since this time (Unix milliseconds), because older work was claimed before. Null: since
   * `reachMs` ago.
   */
  readonly sinceMs: number | null;
}

export interface ClaimTerms {
  worker: string;
  /** Flows to claim from, in this order. */
  asks: readonly FlowRequest[];
  slots: number;
  /** Kinds of which each party has at most one piece running, over all workers. */
  oneAtATime: readonly string[];
  /** How far back a search without `sinceMs` goes. No queued work of these kinds is older. */
  reachMs: number;
  /** SQL of `Claim.recalled`, from a claimed row (`recallOf`); the same in all claims of a process. */
  recall: string;
}

export interface ClaimResult {
  claims: Claim[];
  left: Flow[];
}

const claimStatement = ({ recall }: ClaimTerms) => ({
  name: 'claim_v1',
  text: `select id, kind, party, month, attempt, connection_id as "connectionId", input, facts, queued_ms as "queuedMs",
                left_ms as "leftMs", queued_at_ms as "queuedAtMs", ${recall} as recalled
           from claim_v1($1::text[], $2::uuid[], $3::int[], $4::float8[], $5::int, $6::uuid, $7::text[], $8::int)`,
});

const CLAIM_TIMEOUT_MS = 5000;

/** A claimed piece of work or, without an id, a flow in which the claim left work. */
type ClaimRow =
  | (Omit<Claim, 'facts' | 'input' | 'worker'> & { facts: string; input: string })
  | (Flow & { id: null });

/**
 * Claims the oldest work of the given flows. Only one process can claim an attempt. Is never retried: if the answer is
 * lost, `readHeldWork` finds what was claimed.
 */
export async function claim(pool: Pool, terms: ClaimTerms): Promise<ClaimResult> {
  const { worker, asks, slots, oneAtATime, reachMs } = terms;
  const values = [
    asks.map(({ kind }) => kind),
    asks.map(({ party }) => party),
    asks.map(({ count }) => count),
    asks.map(({ sinceMs }) => sinceMs),
    slots,
    worker,
    oneAtATime,
    reachMs,
  ];
  const rows = await query<ClaimRow>(pool, claimStatement(terms), values, { withinMs: CLAIM_TIMEOUT_MS });
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

/** Returns, for each kind, the flows of its 500 oldest queued pieces of work, and those of up to 500 parties. */
export function queuedFlows(pool: Pool, kinds: readonly string[]): Promise<Flow[]> {
  return query<Flow>(pool, QUEUED_FLOWS, [kinds]);
}

const RELEASE_WORK = {
  name: 'release_v1',
  text: 'select id, kind, party from release_v1($1::uuid[], $2::uuid)',
};

/** Puts claimed work back into its flows without using up an attempt. Returns the work. */
export function release(pool: Pool, ids: readonly string[], worker: string): Promise<QueuedWork[]> {
  return query<QueuedWork>(pool, RELEASE_WORK, [ids, worker]);
}

const HELD_WORK = {
  name: 'held_v1',
  text: `select id, attempt from work where id = any ($2::uuid[]) and state = 'running' and worker = $1::uuid`,
};
/**
 * Scans all live work. The table has no index on `state` or `worker`, since each claim would have to update that index.
 */
const ALL_HELD_WORK = {
  name: 'all_held_v1',
  text: `select id, attempt from work where state = 'running' and worker = $1::uuid`,
};

/** Reads which work a process holds, as a map from id to attempt. With `ids`, reads only these. */
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

export async function findLiveIds(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(db, LIVE_WORK, [ids]);
  return rows.map(({ id }) => id);
}
