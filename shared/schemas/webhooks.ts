import Type, { type Static } from 'typebox';
import { closedObject, nullableOneOf, oneOf, text } from './build.ts';
import { Count, Id, NullableText, NullableTimestamp, pageLimit, Timestamp } from './common.ts';
import { UUID, WEBHOOK_GRACE_S_MAX } from './limits.ts';

/** What webhooks report, by whose webhook it is. */
export const ACCOUNT_EVENTS = ['prediction.escalated', 'job.finished', 'connection.revoked'] as const;
export const APP_EVENTS = ['connection.revoked', 'cap.reached'] as const;
const WEBHOOK_EVENTS = [...new Set([...ACCOUNT_EVENTS, ...APP_EVENTS])] as const;
export type WebhookEventName = (typeof ACCOUNT_EVENTS)[number] | (typeof APP_EVENTS)[number];

/** Why nothing is sent: its owner has paused it, it answered 410, or nothing has succeeded for days. */
export const WEBHOOK_DISABLED = ['paused', 'gone', 'failing'] as const;
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

const url = text(2000, 1);
const events = Type.Array(oneOf(WEBHOOK_EVENTS), {
  minItems: 1,
  maxItems: WEBHOOK_EVENTS.length,
  uniqueItems: true,
});

export const WebhookRequest = closedObject({
  url,
  events,
  /** An app of the account, whose webhook it is; without it, the account's own. */
  app_id: Type.Optional(Id),
});
export type WebhookRequest = Static<typeof WebhookRequest>;

export const WebhookChange = closedObject({
  url: Type.Optional(url),
  events: Type.Optional(events),
  /** False pauses it; true begins anew, also after it was disabled. */
  active: Type.Optional(Type.Boolean()),
});
export type WebhookChange = Static<typeof WebhookChange>;

const webhookFields = {
  id: Id,
  /** Null: the account's own. */
  app_id: NullableText,
  url: Type.String(),
  events: Type.Array(oneOf(WEBHOOK_EVENTS)),
  /** Null: it is active. */
  disabled: nullableOneOf(WEBHOOK_DISABLED),
  /** Time of the first failure since the latest success; null: the latest attempt succeeded. */
  failing_since: NullableTimestamp,
  /** Until then the secret before the present one signs as well. */
  old_secret_until: NullableTimestamp,
  created_at: Timestamp,
};
export const WebhookResponse = closedObject(webhookFields);
export type WebhookResponse = Static<typeof WebhookResponse>;

/** The only answer that has the secret, besides that to a new one. */
export const NewWebhookResponse = closedObject({ ...webhookFields, secret: Type.String() });

export const WebhookListQuery = Type.Object({
  /** Only those of one app of the account. */
  app_id: Type.Optional(Type.String({ pattern: UUID.source })),
});
export const WebhookList = closedObject({ results: Type.Array(WebhookResponse) });

export const WebhookSecretRequest = closedObject({
  /** How long the present secret signs beside the new one. */
  grace_s: Type.Integer({ minimum: 0, maximum: WEBHOOK_GRACE_S_MAX }),
});
export const WebhookSecretResponse = closedObject({ secret: Type.String() });

export const DeliveryListQuery = Type.Object({
  limit: pageLimit(100, 50),
  /** Id of the last delivery on the previous page. */
  cursor: Type.Optional(Type.String({ pattern: UUID.source })),
  state: Type.Optional(oneOf(DELIVERY_STATES)),
});

export const DeliveryResponse = closedObject({
  /** The `webhook-id` of each attempt. */
  id: Id,
  event: oneOf(WEBHOOK_EVENTS),
  data: Type.Record(Type.String(), Type.Unknown()),
  state: oneOf(DELIVERY_STATES),
  attempts: Count,
  /** Why the latest attempt failed. */
  reason: NullableText,
  created_at: Timestamp,
  last_attempt_at: NullableTimestamp,
  next_attempt_at: NullableTimestamp,
});
export type DeliveryResponse = Static<typeof DeliveryResponse>;

export const DeliveryList = closedObject({ results: Type.Array(DeliveryResponse) });

export const ReplayRequest = closedObject({
  /** Deliveries to send again, delivered ones too; by default, those that failed. */
  delivery_ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 100 })),
});
export const ReplayResponse = closedObject({ replayed: Count });
