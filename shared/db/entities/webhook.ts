import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { DELIVERY_STATES, WEBHOOK_DISABLED, type WebhookEventName } from '../../schemas/webhooks.ts';
import { Account } from './account.ts';
import { App } from './app.ts';
import { expressionIndexes } from './expression-indexes.ts';
import { TextArray } from './text-array.ts';

/** An address of an account or an app to which events are sent. */
export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade').index(),
    app: () => p.manyToOne(App).nullable().deleteRule('cascade').index(),
    url: p.text(),
    events: p.type(TextArray).$type<WebhookEventName[]>(),
    /** The key itself, not its hash: each delivery is signed with it. */
    secret: p.blob(),
    /** The key before it, which signs as well until `oldSecretUntil`. */
    oldSecret: p.blob().nullable(),
    oldSecretUntil: p.datetime(3).nullable(),
    /** Why nothing is sent; null: it is active. */
    disabled: p.enum([...WEBHOOK_DISABLED]).nullable(),
    /** Number of attempts that have failed since the latest success. */
    failures: p.integer().default(0),
    failingSince: p.datetime(3).nullable(),
    /** Nothing is sent until then, because an attempt has failed. */
    restsUntil: p.datetime(3).nullable(),
    /** The process that sends to it; one at a time, while it lives. */
    sender: p.uuid().nullable(),
    createdAt: p.datetime(3),
  },
  checks: [{ name: 'webhooks_party_check', expression: 'num_nonnulls(account_id, app_id) = 1' }],
});
export type Webhook = InferEntity<typeof Webhook>;

/** An event for one webhook: stored in the transaction that caused it, and kept for a week (the outbox). */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: {
    /** The `webhook-id` of each attempt. */
    id: p.uuid().primary(),
    webhook: () => p.manyToOne(Webhook).deleteRule('cascade'),
    event: p.text().$type<WebhookEventName>(),
    data: p.json<Record<string, unknown>>(),
    /** What happens once for a webhook, however often it is reported. */
    key: p.text().nullable(),
    state: p.enum([...DELIVERY_STATES]).default('pending'),
    attempts: p.integer().default(0),
    /** Why the latest attempt failed. */
    reason: p.text().nullable(),
    createdAt: p.datetime(3),
    /** Time from which on it is tried for a day: its creation, or its latest replay. */
    triedFrom: p.datetime(3),
    lastAttemptAt: p.datetime(3).nullable(),
    /** Time of the next attempt; null unless it is pending. */
    nextAttemptAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'deliveries_webhook_key', properties: ['webhook', 'key'] }],
  indexes: [
    { name: 'deliveries_webhook', properties: ['webhook', 'id'] },
    ...expressionIndexes('deliveries', {
      due: '("next_attempt_at") where next_attempt_at is not null',
      pending: '("webhook_id", "next_attempt_at") where next_attempt_at is not null',
      failed: `("last_attempt_at") where state = 'failed'`,
    }),
  ],
});
export type Delivery = InferEntity<typeof Delivery>;
