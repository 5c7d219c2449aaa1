import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { type CallOutcome, LEDGER_DAYS, NOTHING_SPENT, type Spending } from '../../domain/provider-call.ts';
import { query } from '../statement.ts';

export interface LedgerEntry {
  id: string;
  account_id: string | null;
  app_id: string | null;
  kind: string;
  work_id: string;
  attempt: number;
  model: string;
  input_tokens: number;
  /** Input tokens from the provider's cache. */
  cached_tokens: number;
  output_tokens: number;
  cost_microcents: number | null;
  aborted: boolean;
  outcome: CallOutcome;
  latency_ms: number;
}

const ADD_TO_LEDGER = {
  name: 'book_calls_v1',
  text: `
    insert into provider_calls (id, at, account_id, app_id, kind, work_id, attempt, model, input_tokens,
                                cached_tokens, output_tokens, cost_microcents, aborted, outcome, latency_ms)
    select c.id, clock_timestamp() - make_interval(secs => c.age_ms / 1000), a.id, c.app_id, c.kind, c.work_id,
           c.attempt, c.model, c.input_tokens, c.cached_tokens, c.output_tokens, c.cost_microcents, c.aborted, c.outcome,
           c.latency_ms
      from json_to_recordset($1::json) as c (
             id uuid, age_ms float8, account_id uuid, app_id uuid, kind text, work_id uuid, attempt int, model text,
             input_tokens int, cached_tokens int, output_tokens int, cost_microcents bigint, aborted bool, outcome text,
             latency_ms int)
      left join accounts a on a.id = c.account_id and a.erasing_at is null
    on conflict (id) do nothing`,
};

const ADD_TIMEOUT_MS = 5000;

/**
 * Adds calls to the ledger; safe to repeat. `age_ms` is the time since a call was sent. A call of an account that is
 * erased meanwhile is stored without the account.
 */
export async function addToLedger(
  pool: Pool,
  calls: readonly (LedgerEntry & { age_ms: number })[],
): Promise<void> {
  await query(pool, ADD_TO_LEDGER, [JSON.stringify(calls)], { withinMs: ADD_TIMEOUT_MS });
}

const SUM_COLUMNS = `count(*)::int as "calls", coalesce(sum(input_tokens), 0)::float8 as "inputTokens",
  coalesce(sum(cached_tokens), 0)::float8 as "cachedTokens", coalesce(sum(output_tokens), 0)::float8 as "outputTokens",
  coalesce(sum(cost_microcents), 0)::float8 as "costMicrocents",
  (count(*) filter (where cost_microcents is null))::int as "unpriced"`;

/** Condition for calls in a UTC month. The month is passed twice. */
const IN_MONTH = `at >= (? || '-01')::timestamp at time zone 'UTC'
  and at < ((? || '-01')::timestamp + interval '1 month') at time zone 'UTC'`;

/** Sums up an account's calls in a month (`YYYY-MM`). */
export async function accountSpending(em: EntityManager, id: string, month: string): Promise<Spending> {
  const [found] = await em.execute<Spending[]>(
    `select ${SUM_COLUMNS} from provider_calls where account_id = ? and ${IN_MONTH}`,
    [id, month, month],
  );
  return found ?? NOTHING_SPENT;
}

/** Sums up the calls of these apps in a month (`YYYY-MM`), by app id. */
export async function appSpending(
  em: EntityManager,
  ids: readonly string[],
  month: string,
): Promise<Map<string, Spending>> {
  const rows = await em.execute<(Spending & { id: string })[]>(
    `select app.id, sums.* from json_array_elements_text(?::json) app (id)
      cross join lateral (
        select ${SUM_COLUMNS} from provider_calls where app_id = app.id::uuid and ${IN_MONTH}) sums`,
    [JSON.stringify(ids), month, month],
  );
  return new Map(rows.map(({ id, ...spending }) => [id, spending]));
}

/** Ids begin with a time (UUID version 7), so the primary key finds the oldest calls. */
export const deleteOldCalls = (limit: number) => ({
  name: 'old_provider_calls_v1',
  text: `
    delete from provider_calls where ctid = any (array(
      select ctid from provider_calls
       where id < (rpad(lpad(to_hex((extract(epoch from now() - interval '${LEDGER_DAYS} days') * 1000)::bigint), 12, '0'), 32, '0'))::uuid
       order by id limit ${limit}))
    returning 1`,
});
