import { transaction } from '../../../shared/db/statement.ts';
import { findApp } from '../../../shared/db/stores/apps.ts';
import {
  deleteWebhook,
  insertWebhook,
  listAppWebhooks,
  replayDeliveries,
  rotateWebhookSecret,
} from '../../../shared/db/stores/webhooks/webhooks.ts';
import { addressFault } from '../../../shared/net/guarded-fetch.ts';
import { APP_EVENTS } from '../../../shared/schemas/webhooks.ts';
import { presentSecret } from '../../../shared/security/webhook-signature.ts';
import { AdminError } from '../admin-error.ts';
import { appId, choice, graceSeconds, requireValue, unknownApp, webhookId } from '../arguments.ts';
import { command, EXAMPLE_ID } from '../command.ts';
import { fieldsOutcome, table } from '../text.ts';

const ONCE = 'The secret is shown only this once.';

export const webhookCreate = command({
  summary: 'Have events of an app sent to an address',
  synopsis: `APP_ID --url U [--event ${APP_EVENTS.join('|')}]…`,
  example: `${EXAMPLE_ID} --url https://app.example/forecue`,
  options: {
    url: { type: 'string' },
    event: { type: 'string', multiple: true, default: [...APP_EVENTS] },
  },
  operand: appId,
  read(values, id) {
    const url = addressOf(requireValue('--url', values.url));
    const events = [...new Set(values.event.map((event) => choice('--event', event, APP_EVENTS)))];
    return async ({ em }) => {
      if ((await findApp(em, id)) === undefined) throw unknownApp(id);
      const { webhook, secret } = await transaction(em, (tx) =>
        insertWebhook(tx, { app: id }, { url, events }),
      );
      return fieldsOutcome({ webhook_id: webhook.id, secret: presentSecret(secret) }, ONCE);
    };
  },
});

export const webhookList = command({
  summary: 'List the webhooks of an app',
  synopsis: 'APP_ID',
  example: EXAMPLE_ID,
  operand: appId,
  read:
    (_, id) =>
    async ({ em }) => {
      if ((await findApp(em, id)) === undefined) throw unknownApp(id);
      const data = (await listAppWebhooks(em, id)).map((webhook) => ({
        webhook_id: webhook.id,
        url: webhook.url,
        events: webhook.events,
        disabled: webhook.disabled ?? null,
        failing_since: webhook.failingSince?.toISOString() ?? null,
      }));
      return { data, text: table(data, ['webhook_id', 'url', 'events', 'disabled', 'failing_since']) };
    },
});

export const webhookRotate = command({
  summary: 'Make a new secret for a webhook',
  synopsis: 'WEBHOOK_ID [--grace SECONDS]',
  example: `${EXAMPLE_ID} --grace 3600`,
  options: { grace: { type: 'string', default: '0' } },
  operand: webhookId,
  read(values, id) {
    const grace = graceSeconds(values.grace);
    return async ({ em }) => {
      const secret = await rotateWebhookSecret(em, id, grace);
      if (secret === undefined) throw unknownWebhook(id);
      return fieldsOutcome({ secret: presentSecret(secret) }, ONCE);
    };
  },
});

export const webhookReplay = command({
  summary: 'Send again what has failed',
  synopsis: 'WEBHOOK_ID',
  example: EXAMPLE_ID,
  operand: webhookId,
  read:
    (_, id) =>
    async ({ em }) =>
      fieldsOutcome({ replayed: await replayDeliveries(em, id, undefined) }),
});

export const webhookDelete = command({
  summary: 'Delete a webhook with its deliveries',
  synopsis: 'WEBHOOK_ID',
  example: EXAMPLE_ID,
  operand: webhookId,
  read:
    (_, id) =>
    async ({ em }) => {
      if ((await deleteWebhook(em, id)) === 0) throw unknownWebhook(id);
      return { data: { deleted: id }, text: 'It is deleted.' };
    },
});

function addressOf(value: string): string {
  const url = URL.parse(value);
  // An operator may name an address of the own network; the workers call it with ALLOW_PRIVATE_ADDRESSES.
  const fault = url === null ? 'it is no address' : addressFault(url, true);
  if (fault !== undefined) throw new AdminError(`--url cannot be called: ${fault}`);
  return value;
}

function unknownWebhook(id: string): AdminError {
  return new AdminError(`there is no webhook ${id}: \`webhook list APP_ID\` shows those of an app`);
}
