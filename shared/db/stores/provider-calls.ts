import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { TokenQuotas } from '../../config/quotas.ts';
import type { Spending } from '../../domain/provider-call.ts';
import { ProviderCall, TokenUsage } from '../entities/provider.ts';
import { insertNew, oneRow } from '../rows.ts';

export type LedgerEntry = Omit<ProviderCall, 'at'>;

/**
 * Adds calls to the ledger; safe to repeat. `ageMs` is the time since a call was sent. A call of an account that is
 * erased meanwhile is stored without the account.
 */
export async function addToLedger(
  em: EntityManager,
  calls: readonly (LedgerEntry & { ageMs: number })[],
): Promise<void> {
  const rows = calls.map(({ ageMs, accountId, ...call }) => ({
    ...call,
    at: raw('clock_timestamp() - make_interval(secs => ?)', [ageMs / 1000]),
    accountId: accountId && raw('(select id from accounts where id = ? and erasing_at is null)', [accountId]),
  }));
  await insertNew(em, ProviderCall, rows);
}

/**
 * Returns the seconds to the end of the day (UTC) if its tokens are used up, those of the account or of all accounts;
 * otherwise null.
 */
export async function tokensUsedUpForS(
  em: EntityManager,
  accountId: string,
  { account, allAccounts }: TokenQuotas,
): Promise<number | null> {
  const select = `select case when are_tokens_used_up_v1(?, ?, ?)
    then extract(epoch from (utc_day() + 1) at time zone 'UTC' - now())::float8 end as "leftS"`;
  const row = await oneRow(em.execute<{ leftS: number | null }[]>(select, [accountId, account, allAccounts]));
  return row.leftS;
}

/** Returns the tokens of an account's calls since midnight (UTC). */
export async function accountTokens(em: EntityManager, accountId: string): Promise<number> {
  return (await em.findOne(TokenUsage, { accountId, day: raw('utc_day()') }))?.tokens ?? 0;
}

const SUM_COLUMNS = `count(*)::int as "calls", coalesce(sum(input_tokens), 0)::float8 as "inputTokens",
  coalesce(sum(cached_tokens), 0)::float8 as "cachedTokens", coalesce(sum(output_tokens), 0)::float8 as "outputTokens",
  coalesce(sum(cost_microcents), 0)::float8 as "costMicrocents",
  (count(*) filter (where cost_microcents is null))::int as "unpriced"`;

/** Condition for calls in a UTC month. The month is passed twice. */
const IN_MONTH = `at >= (? || '-01')::timestamp at time zone 'UTC'
  and at < ((? || '-01')::timestamp + interval '1 month') at time zone 'UTC'`;

/** Sums up an account's calls in a month (`YYYY-MM`). */
export function accountSpending(em: EntityManager, id: string, month: string): Promise<Spending> {
  const statement = `select ${SUM_COLUMNS} from provider_calls where account_id = ? and ${IN_MONTH}`;
  return oneRow(em.execute<Spending[]>(statement, [id, month, month]));
}

/** Sums up the calls of these apps in a month (`YYYY-MM`), by app id. */
export async function appSpending(
  em: EntityManager,
  ids: readonly string[],
  month: string,
): Promise<Map<string, Spending>> {
  const rows = await em.execute<(Spending & { id: string })[]>(
    `select app.id, sums.* from unnest(array[?]::uuid[]) app (id)
      cross join lateral (
        select ${SUM_COLUMNS} from provider_calls where app_id = app.id and ${IN_MONTH}) sums`,
    [ids, month, month],
  );
  return new Map(rows.map(({ id, ...spending }) => [id, spending]));
}
