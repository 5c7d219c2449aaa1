import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { TextArray } from './text-array.ts';

/**
 * One request to a language-model provider, as the cost ledger has it: an estimate, not a bill. Nothing references it and
 * it references nothing, so that booking takes no lock of an account. Kept for `LEDGER_DAYS`.
 */
export const ProviderCall = defineEntity({
  name: 'ProviderCall',
  tableName: 'provider_calls',
  properties: {
    /** Time of the worker's clock, close to `at`. */
    id: p.uuid().primary(),
    /** When it was sent. */
    at: p.datetime(3),
    /** Account of `/api` work; null as well once the account is erased. */
    accountId: p.uuid().nullable(),
    /** App of `/v1` work. */
    appId: p.uuid().nullable(),
    /** Kind of the work. */
    kind: p.text(),
    workId: p.uuid(),
    attempt: p.integer(),
    model: p.text(),
    inputTokens: p.integer(),
    /** Input tokens from the provider's cache. */
    cachedTokens: p.integer(),
    outputTokens: p.integer(),
    /** Millionths of a cent by the prices of that time; null when the model had none. */
    costMicrocents: p.bigint('number').nullable(),
    /** The provider's count is unknown, because nobody waited for the answer or it came broken: the tokens are estimated. */
    aborted: p.boolean(),
    /** `CALL_OUTCOMES` */
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

/** Shared knowledge of a provider's model: whether it may be called now. */
export const ProviderCircuit = defineEntity({
  name: 'ProviderCircuit',
  tableName: 'provider_circuits',
  properties: {
    provider: p.text().primary(),
    model: p.text().primary(),
    /** Since the last success. */
    failures: p.integer().default(0),
    /** Parties whose calls failed since then, as hashes. */
    parties: p.type(TextArray).$type<string[]>(),
    /** Why the last call failed. */
    fault: p.text(),
    /** The provider asked to be left alone until then. */
    pausedUntil: p.datetime(3).nullable(),
    /** When one call may probe it; null while the circuit is closed. */
    probeAt: p.datetime(3).nullable(),
  },
});
