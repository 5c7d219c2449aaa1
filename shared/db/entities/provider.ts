import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CallOutcome } from '../../domain/provider-call.ts';
import { expressionIndexes } from './expression-indexes.ts';

/**
 * Ledger entry for one request to a language-model provider. Its cost is an estimate, not a bill. There are no foreign
 * keys to or from the table, so that storing an entry takes no lock on an account. Kept for `LEDGER_DAYS`.
 */
export const ProviderCall = defineEntity({
  name: 'ProviderCall',
  tableName: 'provider_calls',
  properties: {
    /** UUID version 7: contains the time of the worker's clock, which is close to `at`. */
    id: p.uuid().primary(),
    /** Time at which the request was sent. */
    at: p.datetime(3),
    /** Account of `/api` work; null for other work, and once the account is erased. */
    accountId: p.uuid().nullable(),
    /** App of `/v1` work. */
    appId: p.uuid().nullable(),
    kind: p.text(),
    workId: p.uuid(),
    attempt: p.integer(),
    model: p.text(),
    inputTokens: p.integer(),
    /** Input tokens from the provider's cache. */
    cachedTokens: p.integer(),
    outputTokens: p.integer(),
    /** Cost in millionths of a cent, at the prices when the entry was made; null if the model had no price. */
    costMicrocents: p.bigint('number').nullable(),
    /** True if the tokens are estimated, because no complete answer with the provider's count was received. */
    aborted: p.boolean(),
    /** One of `CALL_OUTCOMES`. */
    outcome: p.text().$type<CallOutcome>(),
    latencyMs: p.integer(),
  },
  indexes: expressionIndexes('provider_calls', {
    account_at: `("account_id", "at") include ("cost_microcents") where account_id is not null`,
    app: `("app_id", "at") where app_id is not null`,
  }),
});
export type ProviderCall = InferEntity<typeof ProviderCall>;

/** Tokens that models have used on an account's latest day with any (`sql/token-usage.sql`). No foreign key, as above. */
export const TokenUsage = defineEntity({
  name: 'TokenUsage',
  tableName: 'token_usage',
  properties: {
    accountId: p.uuid().primary(),
    day: p.date(),
    tokens: p.bigint('number'),
  },
});
