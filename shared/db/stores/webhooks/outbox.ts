import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { WebhookEventName } from '../../../schemas/webhooks.ts';
import { backoffMs } from '../../../timing/retry.ts';
import { Delivery, Webhook } from '../../entities/webhook.ts';
import { transaction } from '../../statement.ts';
import { MAIL_URL } from './announce.ts';

/** A delivery is tried for this long, then given up. */
export const TRIED_FOR_S = 24 * 60 * 60;
const RETRY = { firstMs: 5000, longestMs: 2 * 60 * 60_000 };
/** After a failure nothing is sent to the webhook for a while, so that one that hangs takes few attempts. */
const REST = { firstMs: 1000, longestMs: 5 * 60_000 };
/** A webhook that has only failed for this long is disabled. */
const FAILING_DAYS_MAX = 5;
const DISABLED_REASON = 'the webhook is disabled';

/**
 * Finds webhooks with due deliveries to which no living process sends, by going from one to the next in the index, so
 * that one with many deliveries hides no other. Takes those in which this process was interrupted, but not `busy` ones.
 */
const CLAIM = `
  with recursive pending (id) as (
    (select d.webhook_id from deliveries d where d.next_attempt_at is not null order by d.webhook_id limit 1)
    union all
    select (select d.webhook_id from deliveries d
             where d.next_attempt_at is not null and d.webhook_id > p.id order by d.webhook_id limit 1)
      from pending p where p.id is not null
  ), free as (
    select w.id from pending p join webhooks w on w.id = p.id
     where (w.rests_until is null or w.rests_until <= now()) and not w.id = any (?::uuid[])
       and (w.url <> '${MAIL_URL}' or ?)
       and (w.sender is null or w.sender = ?
         or not exists (select from processes a where a.id = w.sender and is_alive(a.alive_until)))
       and exists (select from deliveries d where d.webhook_id = w.id and d.next_attempt_at <= now())
     order by random() limit ? for no key update of w skip locked
  )
  update webhooks w set sender = ? from free f where w.id = f.id
  returning w.id`;

/** Returns the ids of webhooks to which this process alone sends from now on. `mails`: it can send mail. */
export async function claimWebhooks(
  em: EntityManager,
  process: string,
  { busy, limit, mails }: { busy: readonly string[]; limit: number; mails: boolean },
): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(CLAIM, [
    `{${busy.join()}}`,
    mails,
    process,
    limit,
    process,
  ]);
  return rows.map(({ id }) => id);
}

/** Where a delivery goes, and what signs it. */
export interface Target {
  url: string;
  /** The present secret, and during a rotation the one before. */
  secrets: Buffer[];
  /** The webhook itself is disabled, or the account whose it is. */
  isDisabled: boolean;
  /** E-mail address of the account, if that is where it goes. */
  mailTo: string | null;
}

/** Returns undefined if the webhook is gone, or another process sends to it. */
export async function readTarget(
  em: EntityManager,
  id: string,
  process: string,
): Promise<Target | undefined> {
  const [row] = await em.execute<(Omit<Target, 'secrets'> & { secret: Buffer; old: Buffer | null })[]>(
    `select w.url, w.secret, w.disabled is not null or not coalesce(a.active, true) as "isDisabled",
            case when w.url = '${MAIL_URL}' then a.email end as "mailTo",
            case when w.old_secret_until > now() then w.old_secret end as old
       from webhooks w left join apps on apps.id = w.app_id
            left join accounts a on a.id = coalesce(w.account_id, apps.owner_id)
      where w.id = ? and w.sender = ?`,
    [id, process],
  );
  return row && { ...row, secrets: [row.secret, row.old].filter((one) => one !== null) };
}

export interface DueDelivery {
  id: string;
  event: WebhookEventName;
  data: object;
  /** Unix milliseconds. */
  createdMs: number;
  attempts: number;
  /** Seconds for which it has been tried. */
  triedS: number;
}

export function readDue(em: EntityManager, webhook: string, limit: number): Promise<DueDelivery[]> {
  return em.execute<DueDelivery[]>(
    `select id, event, data, (extract(epoch from created_at) * 1000)::float8 as "createdMs", attempts,
            extract(epoch from now() - tried_from)::float8 as "triedS"
       from deliveries where webhook_id = ? and next_attempt_at <= now() order by next_attempt_at, id limit ?`,
    [webhook, limit],
  );
}

/** How an attempt ended. `isGone`: the webhook wants no more. */
export type AttemptOutcome = { isDelivered: true } | { isDelivered: false; reason: string; isGone: boolean };

export interface Attempted {
  delivery: DueDelivery;
  outcome: AttemptOutcome;
}

/**
 * Stores how attempts ended. A delivery that was replayed meanwhile stays pending. Returns whether the webhook may be
 * sent more at once: after a failure it rests.
 */
export function storeAttempts(
  em: EntityManager,
  id: string,
  attempted: readonly Attempted[],
): Promise<boolean> {
  return transaction(em, async (tx) => {
    // Locks the webhook before its deliveries, as its deletion does.
    const [webhook] = await tx.execute<{ failures: number; isHopeless: boolean }[]>(
      `select failures, failing_since < now() - interval '${FAILING_DAYS_MAX} days' as "isHopeless"
         from webhooks where id = ? for no key update`,
      [id],
    );
    if (webhook === undefined) return false;
    for (const one of attempted) await storeAttempt(tx, one);
    const failures = attempted.flatMap(({ outcome }) => (outcome.isDelivered ? [] : outcome));
    if (failures.some(({ isGone }) => isGone)) return disable(tx, id, 'gone');
    if (failures.length < attempted.length) {
      await tx.nativeUpdate(Webhook, { id }, { failures: 0, failingSince: null, restsUntil: null });
      return failures.length === 0;
    }
    if (webhook.isHopeless) return disable(tx, id, 'failing');
    await tx.nativeUpdate(
      Webhook,
      { id },
      {
        failures: webhook.failures + 1,
        failingSince: raw('coalesce(failing_since, now())'),
        restsUntil: inMs(backoffMs(webhook.failures + 1, REST)),
      },
    );
    return false;
  });
}

async function storeAttempt(tx: EntityManager, { delivery, outcome }: Attempted): Promise<void> {
  const attempts = delivery.attempts + 1;
  const retryInMs = backoffMs(attempts, RETRY);
  const isGivenUp = delivery.triedS + retryInMs / 1000 > TRIED_FOR_S;
  const end = outcome.isDelivered ? ('delivered' as const) : isGivenUp ? ('failed' as const) : undefined;
  await tx.nativeUpdate(
    Delivery,
    { id: delivery.id, attempts: delivery.attempts, state: 'pending' },
    {
      attempts,
      lastAttemptAt: raw('now()'),
      reason: outcome.isDelivered ? null : outcome.reason,
      nextAttemptAt: end === undefined ? inMs(retryInMs) : null,
      ...(end !== undefined && { state: end }),
    },
  );
}

async function disable(tx: EntityManager, id: string, why: 'gone' | 'failing'): Promise<false> {
  await tx.nativeUpdate(Webhook, { id }, { disabled: why });
  return failPending(tx, id);
}

/** Gives up what is left for a disabled webhook. */
export async function failPending(em: EntityManager, webhook: string): Promise<false> {
  const failed = {
    state: 'failed',
    nextAttemptAt: null,
    reason: DISABLED_REASON,
    lastAttemptAt: raw('now()'),
  } as const;
  await em.nativeUpdate(Delivery, { webhook, state: 'pending', nextAttemptAt: { $ne: null } }, failed);
  return false;
}

/** Lets another process send to it. */
export async function releaseWebhook(em: EntityManager, id: string, process: string): Promise<void> {
  await em.nativeUpdate(Webhook, { id, sender: process }, { sender: null });
}

export const inMs = (ms: number) => raw('now() + make_interval(secs => ?)', [ms / 1000]);
