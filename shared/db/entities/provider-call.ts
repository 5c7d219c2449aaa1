import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * One request to a language-model provider, as the cost ledger has it: an estimate, not a bill. Nothing references it and
 * it references nothing, so that booking takes no lock of an account. Kept for `LEDGER_DAYS`.
 */
export const ProviderCall = defineEntity({
  name: 'ProviderCall',
  tableName: 'provider_calls',
  properties: {
    /** Of the worker's clock, close to `at`. */
    id: p.uuid().primary(),
    /** When it was sent. */
    at: p.datetime(3),
    /** Of `/api` work; null as well once the account is erased. */
    accountId: p.uuid().nullable(),
    /** Of `/v1` work. */
    appId: p.uuid().nullable(),
    /** Of work. */
    kind: p.text(),
    workId: p.uuid(),
    attempt: p.integer(),
    model: p.text(),
    inputTokens: p.integer(),
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
      name: 'provider_calls_account',
      expression: `create index "provider_calls_account" on "provider_calls" ("account_id", "id") where account_id is not null`,
    },
    {
      name: 'provider_calls_app',
      expression: `create index "provider_calls_app" on "provider_calls" ("app_id", "at") where app_id is not null`,
    },
  ],
});
export type ProviderCall = InferEntity<typeof ProviderCall>;
