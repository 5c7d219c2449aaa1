import type { Pool } from 'pg';
import { lowestIdAt } from '../../../ids.ts';
import { oneRow } from '../../rows.ts';
import { query } from '../../statement.ts';

const FAILURES_MAX = 1000;
const LISTED_ERASURES_MAX = 12;
const DELIVERIES_MAX = 1000;

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

export interface RecentOverview {
  failures: FailureGroup[];
  /** Accounts that are being erased, the longest-running erasure first. */
  erasing: { id: string; forS: number }[];
  /** Deliveries to webhooks that are to be sent, and that failed in the last 24 hours; up to a thousand are counted. */
  deliveries: { pending: number; failed: number };
  /** Tokens of models used today (UTC) for all accounts together. */
  tokensToday: number;
}

const READ_RECENT_OVERVIEW = {
  name: 'board_lately_v1',
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
      (select coalesce(json_agg(e), '[]')
         -- An erasure began with the last change of the account: erasing_at is a lease.
         from (select id, extract(epoch from now() - updated_at)::int as "forS" from accounts
                where erasing_at is not null order by updated_at limit ${LISTED_ERASURES_MAX}) e) as erasing,
      (select json_build_object(
                'pending', (select count(*) from (
                   select from deliveries where next_attempt_at is not null limit ${DELIVERIES_MAX}) p),
                'failed', (select count(*) from (
                   select from deliveries where state = 'failed' and last_attempt_at > now() - interval '24 hours'
                    limit ${DELIVERIES_MAX}) f))) as deliveries,
      coalesce((select tokens from token_usage
                 where account_id = all_accounts() and day = utc_day()), 0)::float8 as "tokensToday"`,
};

export function readRecentOverview(pool: Pool, kinds: readonly string[]): Promise<RecentOverview> {
  return oneRow(query<RecentOverview & object>(pool, READ_RECENT_OVERVIEW, [kinds]));
}

/** Sum of the calls of one model in one hour, from the ledger. */
export interface HourlySpending {
  /** Beginning of the hour, in Unix milliseconds. */
  hour: number;
  model: string;
  calls: number;
  /** Number of calls that got no answer. */
  failed: number;
  inputTokens: number;
  outputTokens: number;
  costMicrocents: number;
  /** Number of calls of models without a price. */
  unpriced: number;
}

/** Maximum number of calls that are summed up: the latest. */
export const LEDGER_CALLS_MAX = 100_000;

const READ_LEDGER = {
  name: 'board_ledger_v1',
  text: `
    select (extract(epoch from date_trunc('hour', c.at, 'UTC')) * 1000)::float8 as hour, c.model, count(*)::int as calls,
           (count(*) filter (where c.outcome in ('timeout', 'not_configured', 'rate_limited', 'failed')))::int as failed,
           sum(c.input_tokens)::float8 as "inputTokens", sum(c.output_tokens)::float8 as "outputTokens",
           coalesce(sum(c.cost_microcents), 0)::float8 as "costMicrocents",
           (count(*) filter (where c.cost_microcents is null))::int as unpriced
      from (select at, model, input_tokens, output_tokens, cost_microcents, outcome from provider_calls
             where id > $1::uuid order by id desc limit ${LEDGER_CALLS_MAX}) c
     group by 1, 2`,
};

/** Sums up the calls since a time, in Unix milliseconds, by hour and model. */
export function readLedger(pool: Pool, since: number): Promise<HourlySpending[]> {
  return query<HourlySpending & object>(pool, READ_LEDGER, [lowestIdAt(since)]);
}
