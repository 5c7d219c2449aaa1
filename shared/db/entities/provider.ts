import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { TextArray } from './text-array.ts';

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
    outcome: p.text(),
    latencyMs: p.integer(),
  },
  indexes: [
    {
      name: 'provider_calls_account_at',
      expression: `create index "provider_calls_account_at" on "provider_calls" ("account_id", "at") include ("cost_microcents") where account_id is not null`,
    },
    {
      name: 'provider_calls_app',
      expression: `create index "provider_calls_app" on "provider_calls" ("app_id", "at") where app_id is not null`,
    },
  ],
});
export type ProviderCall = InferEntity<typeof ProviderCall>;

/** Circuit breaker of a provider's model, which all processes share: it says whether the model may be called now. */
export const ProviderCircuit = defineEntity({
  name: 'ProviderCircuit',
  tableName: 'provider_circuits',
  properties: {
    provider: p.text().primary(),
    model: p.text().primary(),
    /** Number of failures since the last success. */
    failures: p.integer().default(0),
    /** Hashes of the apps and accounts whose calls have failed since the last success. */
    parties: p.type(TextArray).$type<string[]>(),
    fault: p.text(),
    /** End of the pause that the provider has asked for. */
    pausedUntil: p.datetime(3).nullable(),
    /** Time from which one call may probe the model; null while the circuit is closed. */
    probeAt: p.datetime(3).nullable(),
  },
});
