import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { quotaError } from '../../../domain/account.ts';
import { checkEach } from '../../../domain/faults.ts';
import { AppError } from '../../../errors/app-error.ts';
import { idsOf, newId } from '../../../ids.ts';
import { WEBHOOKS_MAX } from '../../../schemas/limits.ts';
import { defined } from '../../../schemas/present.ts';
import {
  ACCOUNT_EVENTS,
  APP_EVENTS,
  type WebhookChange,
  type WebhookEventName,
} from '../../../schemas/webhooks.ts';
import { newWebhookSecret } from '../../../security/webhook-signature.ts';
import { App } from '../../entities/app.ts';
import { Delivery, Webhook } from '../../entities/webhook.ts';
import { transaction } from '../../statement.ts';
import { lockActiveAccount } from '../lock-account.ts';
import { MAIL_URL } from './announce.ts';
import { failPending } from './outbox.ts';

/** Whose webhook it is. */
export type WebhookParty = { account: string } | { app: string };

/** An account has its own webhooks, and those of its apps. */
export const ownedBy = (accountId: string) => ({
  url: { $ne: MAIL_URL },
  $or: [{ account: accountId }, { app: { owner: accountId } }],
});

/** The newest first; with `app`, only those of one app. */
export function listOwnWebhooks(em: EntityManager, accountId: string, app?: string): Promise<Webhook[]> {
  const where = { ...ownedBy(accountId), ...defined({ app }) };
  return em.find(Webhook, where, { orderBy: { id: 'desc' } });
}

export function listAppWebhooks(em: EntityManager, app: string): Promise<Webhook[]> {
  return em.find(Webhook, { app }, { orderBy: { id: 'desc' } });
}

/** Throws `not_found` if the account has no such webhook. */
export function findOwnWebhook(em: EntityManager, accountId: string, id: string): Promise<Webhook> {
  return em.findOneOrFail(Webhook, { id, ...ownedBy(accountId) });
}

export interface NewWebhook {
  url: string;
  events: WebhookEventName[];
}

/**
 * Makes a webhook of the account, or of an app of it. Throws `not_found`, `quota_exceeded`, `not_authenticated` if the
 * account is gone, or a `ValidationError`.
 */
export function createOwnWebhook(
  em: EntityManager,
  accountId: string,
  { app, ...webhook }: NewWebhook & { app: string | undefined },
): Promise<{ webhook: Webhook; secret: Buffer }> {
  return transaction(em, async (tx) => {
    if ((await lockActiveAccount(tx, accountId, 'no key update')) === undefined)
      throw new AppError('not_authenticated');
    if (app !== undefined) await tx.findOneOrFail(App, { id: app, owner: accountId });
    return insertWebhook(tx, app === undefined ? { account: accountId } : { app }, webhook);
  });
}

/** The caller has locked the account; two operators at once may exceed the limit of an app by one. */
export async function insertWebhook(
  tx: EntityManager,
  party: WebhookParty,
  { url, events }: NewWebhook,
): Promise<{ webhook: Webhook; secret: Buffer }> {
  requireEventsOf(party, events);
  const used = await tx.count(Webhook, { ...party, url: { $ne: MAIL_URL } });
  if (used >= WEBHOOKS_MAX) throw quotaError([{ resource: 'webhooks', used, added: 1, quota: WEBHOOKS_MAX }]);
  const secret = newWebhookSecret();
  const webhook = tx.create(Webhook, { id: newId(), ...party, url, events, secret, createdAt: new Date() });
  await tx.flush();
  return { webhook, secret };
}

/** `active: true` begins anew. Throws `not_found`, or a `ValidationError`. */
export async function changeOwnWebhook(
  em: EntityManager,
  accountId: string,
  id: string,
  { url, events, active }: WebhookChange,
): Promise<Webhook> {
  const webhook = await findOwnWebhook(em, accountId, id);
  if (events !== undefined)
    requireEventsOf(webhook.app ? { app: webhook.app.id } : { account: accountId }, events);
  const change = {
    ...defined({ url, events }),
    ...(active === true && { disabled: null, failures: 0, failingSince: null, restsUntil: null }),
    ...(active === false && { disabled: 'paused' as const }),
  };
  if (Object.keys(change).length > 0) await em.nativeUpdate(Webhook, { id }, change);
  if (active === false) await failPending(em, id);
  return findOwnWebhook(em.fork(), accountId, id);
}

/** Deletes its deliveries as well. */
export async function deleteWebhook(em: EntityManager, id: string): Promise<number> {
  return em.nativeDelete(Webhook, { id });
}

/** Makes a new secret. The present one signs as well for `graceS` seconds. Returns undefined if it is gone. */
export async function rotateWebhookSecret(
  em: EntityManager,
  id: string,
  graceS: number,
): Promise<Buffer | undefined> {
  const secret = newWebhookSecret();
  const rotated = await em.nativeUpdate(
    Webhook,
    { id },
    {
      secret,
      oldSecret: graceS > 0 ? raw('secret') : null,
      oldSecretUntil: graceS > 0 ? raw('now() + make_interval(secs => ?)', [graceS]) : null,
    },
  );
  return rotated > 0 ? secret : undefined;
}

/** The latest first; with `before`, only deliveries older than the one with that id. */
export function listDeliveries(
  em: EntityManager,
  webhook: string,
  { limit, before, state }: { limit: number; before?: string | undefined; state?: Delivery['state'] },
): Promise<Delivery[]> {
  const where = { webhook, ...defined({ id: before && { $lt: before }, state }) };
  return em.find(Delivery, where, { orderBy: { id: 'desc' }, limit });
}

/** Maximum number of failed deliveries that one call sends again: the latest. */
const REPLAYED_MAX = 1000;

/** Sends deliveries again, at once and for a day, by their same ids: those named, or those that failed. */
export async function replayDeliveries(
  em: EntityManager,
  webhook: string,
  ids: readonly string[] | undefined,
): Promise<number> {
  const chosen = ids ?? idsOf(await listDeliveries(em, webhook, { limit: REPLAYED_MAX, state: 'failed' }));
  const now = raw('now()');
  const again = { state: 'pending', attempts: 0, reason: null, triedFrom: now, nextAttemptAt: now } as const;
  if (chosen.length === 0) return 0;
  return em.nativeUpdate(Delivery, { webhook, id: { $in: [...chosen] } }, again);
}

function requireEventsOf(party: WebhookParty, events: readonly WebhookEventName[]): void {
  const known: readonly string[] = 'app' in party ? APP_EVENTS : ACCOUNT_EVENTS;
  checkEach('events', events, (event) => (known.includes(event) ? undefined : known.join(' or ')));
}
