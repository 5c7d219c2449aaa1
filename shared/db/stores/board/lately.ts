import type { Pool } from 'pg';
import { query } from '../../statement.ts';

const FAILURES_MAX = 1000;
const LISTED_ERASURES_MAX = 12;

/** Failures of the last hour with the same kind, code and source. */
export interface FailureGroup {
  kind: string;
  code: string;
  source: string | null;
  count: number;
  /** True if `count` is a minimum, because not all failures of the kind were counted. */
  isMore: boolean;
  agoS: number;
  /** Id of the work that failed last. */
  example: string;
}

export interface Circuit {
  model: string;
  failures: number;
  fault: string;
  /** Seconds to the end of the pause that the provider asked for. */
  pausedS: number | null;
  /** Seconds until the model may be probed; null while the circuit is closed. */
  probeS: number | null;
}

export interface RecentOverview {
  failures: FailureGroup[];
  circuits: Circuit[];
  /** Accounts that are being erased, the longest-running erasure first. */
  erasing: { id: string; forS: number }[];
}

const READ_RECENT_OVERVIEW = {
  name: 'board_lately_v2',
  text: `
    select
      (select coalesce(json_agg(f), '[]')
         from (select k.kind, h.code, h.source, count(*) as count,
                      sum(count(*)) over (partition by k.kind) >= ${FAILURES_MAX} as "isMore",
                      extract(epoch from now() - max(h.ended_at))::int as "agoS",
                      (array_agg(h.id order by h.ended_at desc))[1] as example
                 from unnest($1::text[]) k (kind)
                cross join lateral (
                  select h.id, coalesce(h.code, 'unknown') as code, h.source, h.ended_at from history h
                   where h.kind = k.kind and h.state = 'failed' and h.ended_at > now() - interval '1 hour'
                   order by h.ended_at desc limit ${FAILURES_MAX}) h
                group by k.kind, h.code, h.source order by count(*) desc, h.code limit 20) f) as failures,
      (select coalesce(json_agg(c), '[]')
         from (select model, failures, fault, extract(epoch from paused_until - now())::int as "pausedS",
                      extract(epoch from probe_at - now())::int as "probeS"
                 from provider_circuits order by model limit 50) c) as circuits,
      (select coalesce(json_agg(e), '[]')
         -- An erasure began with the last change of the account: erasing_at is a lease.
         from (select id, extract(epoch from now() - updated_at)::int as "forS" from accounts
                where erasing_at is not null order by updated_at limit ${LISTED_ERASURES_MAX}) e) as erasing`,
};

export async function readRecentOverview(pool: Pool, kinds: readonly string[]): Promise<RecentOverview> {
  const [row] = await query<RecentOverview & object>(pool, READ_RECENT_OVERVIEW, [kinds]);
  if (row === undefined) throw new Error('the database answered nothing');
  return row;
}

/** Sum of the calls of one model in one hour, from the ledger. */
export interface LedgerHour {
  /** Beginning of the hour, in Unix milliseconds. */
  hour: number;
  model: string;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costMicrocents: number;
  /** Number of calls of models without a price. */
  unpriced: number;
  /** Lowest and highest id of the calls. */
  first: string;
  last: string;
}

/** Maximum number of calls that one statement reads. */
export const LEDGER_PAGE_CALLS = 10_000;

const ledgerStatement = (direction: 'asc' | 'desc') => ({
  name: `board_ledger_${direction}_v1`,
  text: `
    select (extract(epoch from date_trunc('hour', c.at, 'UTC')) * 1000)::float8 as hour, c.model, count(*)::int as calls,
           sum(c.input_tokens)::float8 as "inputTokens", sum(c.output_tokens)::float8 as "outputTokens",
           coalesce(sum(c.cost_microcents), 0)::float8 as "costMicrocents",
           (count(*) filter (where c.cost_microcents is null))::int as unpriced,
           min(c.id::text) as first, max(c.id::text) as last
      from (select id, at, model, input_tokens, output_tokens, cost_microcents from provider_calls
             where id > $1::uuid and id < $2::uuid order by id ${direction} limit ${LEDGER_PAGE_CALLS}) c
     group by 1, 2`,
});
const LEDGER_STATEMENTS = { asc: ledgerStatement('asc'), desc: ledgerStatement('desc') };

/**
 * Sums up to `LEDGER_PAGE_CALLS` calls with ids between `from` and `to` by hour and model: the first calls or, with
 * `desc`, the last.
 */
export function readLedger(
  pool: Pool,
  from: string,
  to: string,
  direction: 'asc' | 'desc',
): Promise<LedgerHour[]> {
  return query<LedgerHour & object>(pool, LEDGER_STATEMENTS[direction], [from, to]);
}
