import type { Delivery } from '../../../shared/db/entities/webhook.ts';
import {
  changeOwnWebhook,
  createOwnWebhook,
  deleteWebhook,
  findOwnWebhook,
  listDeliveries,
  listOwnWebhooks,
  replayDeliveries,
  rotateWebhookSecret,
} from '../../../shared/db/stores/webhooks/webhooks.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { present } from '../../../shared/schemas/present.ts';
import {
  DeliveryList,
  DeliveryListQuery,
  DeliveryResponse,
  NewWebhookResponse,
  ReplayRequest,
  ReplayResponse,
  WebhookChange,
  WebhookList,
  WebhookListQuery,
  WebhookRequest,
  WebhookResponse,
  WebhookSecretRequest,
  WebhookSecretResponse,
} from '../../../shared/schemas/webhooks.ts';
import { presentSecret } from '../../../shared/security/webhook-signature.ts';
import { presentWebhook } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

const common = { tag: 'Webhooks' } as const;
/** Changes need a log-in, or a key without scopes: what is sent elsewhere is the owner's affair. */
const changing = { ...common, scopes: [], inTurn: 'account', changes: 'webhooks' } as const;
const params = { webhook_id: 'uuid' } as const;

export const listWebhooks = endpoint('user', {
  ...common,
  operationId: 'listWebhooks',
  summary: 'The webhooks of the account and of its apps, the newest first',
  query: WebhookListQuery,
  response: WebhookList,
}).handle(async ({ user, query }, { em }: Parts) => ({
  body: { results: (await listOwnWebhooks(em(), user.id, query.app_id)).map(presentWebhook) },
}));

export const createWebhook = endpoint('user', {
  ...changing,
  operationId: 'createWebhook',
  summary: 'Have events sent to an address',
  description:
    'The only answer that has its secret. With `app_id` it is the webhook of an app of the account, for `connection.revoked` and `cap.reached`; without, the account’s own, for `prediction.escalated`, `job.finished` and `connection.revoked`. The address is https and public.',
  body: WebhookRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['quota_exceeded', 'not_found'],
  status: 201,
  response: NewWebhookResponse,
}).handle(async ({ user, body: { url, events, app_id: app } }, { em, checkAddress }: Parts) => {
  checkAddress(url);
  const { webhook, secret } = await createOwnWebhook(em(), user.id, { url, events, app });
  return { body: { ...presentWebhook(webhook), secret: presentSecret(secret) } };
});

export const readWebhook = endpoint('user', {
  ...common,
  operationId: 'readWebhook',
  summary: 'One webhook',
  params,
  response: WebhookResponse,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentWebhook(await findOwnWebhook(em(), user.id, params.webhook_id)),
}));

export const changeWebhook = endpoint('user', {
  ...changing,
  operationId: 'changeWebhook',
  summary: 'Change a webhook, pause it, or begin anew after it was disabled',
  params,
  body: WebhookChange,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: WebhookResponse,
}).handle(async ({ user, params, body }, { em, checkAddress }: Parts) => {
  if (body.url !== undefined) checkAddress(body.url);
  return { body: presentWebhook(await changeOwnWebhook(em(), user.id, params.webhook_id, body)) };
});

export const removeWebhook = endpoint('user', {
  ...changing,
  operationId: 'removeWebhook',
  summary: 'Delete a webhook with its deliveries',
  params,
  status: 204,
}).handle(async ({ user, params }, { em }: Parts) => {
  const { id } = await findOwnWebhook(em(), user.id, params.webhook_id);
  await deleteWebhook(em(), id);
});

export const rotateSecret = endpoint('user', {
  ...changing,
  operationId: 'rotateWebhookSecret',
  summary: 'Make a new secret; for `grace_s` the present one signs as well',
  params,
  body: WebhookSecretRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  status: 201,
  response: WebhookSecretResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => {
  const { id } = await findOwnWebhook(em(), user.id, params.webhook_id);
  const secret = await rotateWebhookSecret(em(), id, body.grace_s);
  if (secret === undefined) throw new AppError('not_found');
  return { body: { secret: presentSecret(secret) } };
});

export const listWebhookDeliveries = endpoint('user', {
  ...common,
  operationId: 'listWebhookDeliveries',
  summary: 'What was sent to a webhook, and is to be, in the last seven days, the latest first',
  description: 'The header `Link` leads to older ones.',
  params,
  query: DeliveryListQuery,
  response: DeliveryList,
  responseHeaders: ['Link'],
}).handle(async ({ user, params, query }, { em }: Parts) => {
  const { limit, cursor: before, state } = query;
  const { id } = await findOwnWebhook(em(), user.id, params.webhook_id);
  const found = await listDeliveries(em(), id, { limit: limit + 1, before, state });
  const page = found.slice(0, limit);
  const of = state === undefined ? '' : `&state=${state}`;
  const headers: Record<string, string> =
    found.length > limit ? { Link: `<?limit=${limit}&cursor=${page.at(-1)?.id}${of}>; rel="next"` } : {};
  return { body: { results: page.map(presentDelivery) }, headers };
});

export const replayWebhookDeliveries = endpoint('user', {
  ...changing,
  operationId: 'replayWebhookDeliveries',
  summary: 'Send deliveries again: those named, or the latest that failed, a thousand at most',
  description: 'Each is tried for a day again, by its same id.',
  params,
  body: ReplayRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: ReplayResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => {
  const { id } = await findOwnWebhook(em(), user.id, params.webhook_id);
  return { body: { replayed: await replayDeliveries(em(), id, body.delivery_ids) } };
});

function presentDelivery(delivery: Delivery): DeliveryResponse {
  return present(DeliveryResponse, delivery);
}
