import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { newId } from '../../../ids.ts';
import type { EscalationMail } from '../../../schemas/decisions.ts';
import { newWebhookSecret } from '../../../security/webhook-signature.ts';
import { backoffMs } from '../../../timing/retry.ts';
import { Account, EmailChange } from '../../entities/account.ts';
import { Delivery, Webhook } from '../../entities/webhook.ts';
import { transaction } from '../../statement.ts';
import { issueToken } from '../log-ins.ts';
import { MAIL_URL } from './announce.ts';
import { inMs, TRIED_FOR_S } from './outbox.ts';

/** After a mail, questions wait this long and come in one. */
export const MAIL_WINDOW_MS = 10 * 60_000;
const RETRY = { firstMs: 5000, longestMs: MAIL_WINDOW_MS };
/** Maximum questions that one mail covers. */
const QUESTIONS_MAX = 1000;
/** Characters of a question that are read for a mail. */
const QUESTION_CHARS = 1000;

/** `unconfirmed` until the link is opened that was mailed to the account's address. */
export async function readEscalationMail(em: EntityManager, account: string): Promise<EscalationMail> {
  const webhook = await em.findOne(Webhook, { account, url: MAIL_URL });
  if (webhook === null) return 'off';
  return webhook.disabled === null ? 'on' : 'unconfirmed';
}

/** Switches mails off. Drops what was not mailed yet. */
export async function endEscalationMail(em: EntityManager, account: string): Promise<void> {
  await em.nativeDelete(Webhook, { account, url: MAIL_URL });
}

/**
 * Switches mails on for when the address is confirmed, by the link whose token is returned; undefined if they are on.
 * Ends an earlier link. Throws `not_authenticated` if the account is gone.
 */
export function beginEscalationMail(
  em: EntityManager,
  id: string,
): Promise<{ token: string; email: string } | undefined> {
  return transaction(em, async (tx) => {
    // Locks the account, so that two calls at once make one webhook.
    if ((await tx.nativeUpdate(Account, { id, active: true }, { updatedAt: raw('now()') })) === 0)
      throw new AppError('not_authenticated');
    const state = await readEscalationMail(tx, id);
    if (state === 'on') return undefined;
    if (state === 'off')
      await tx.insert(Webhook, {
        id: newId(),
        account: id,
        url: MAIL_URL,
        events: ['prediction.escalated'],
        secret: newWebhookSecret(),
        disabled: 'paused',
        createdAt: new Date(),
      });
    const account = await tx.findOneOrFail(Account, { id });
    await tx.nativeDelete(EmailChange, { account: id });
    const issued = await issueToken(tx, 'email_changes', account, { more: { email: account.email } });
    if (issued === undefined) throw new AppError('not_authenticated');
    return { token: issued.token, email: account.email };
  });
}

/** Begins mails that were switched on, now that the account's address is confirmed. */
export async function confirmEscalationMail(tx: EntityManager, account: string): Promise<void> {
  await tx.nativeUpdate(Webhook, { account, url: MAIL_URL, disabled: 'paused' }, { disabled: null });
}

/** A question that is to be mailed. */
export interface DueQuestion {
  /** Id of the delivery. */
  id: string;
  agent: string;
  question: string;
  /** False if it was answered or deleted meanwhile. */
  waits: boolean;
}

/** Returns the questions to mail, also those of failed attempts: one mail covers them all. */
export function readDueQuestions(em: EntityManager, webhook: string): Promise<DueQuestion[]> {
  return em.execute<DueQuestion[]>(
    `select d.id, coalesce(r.agent, '') as agent, coalesce(left(r.agent_input, ${QUESTION_CHARS}), '') as question,
            coalesce(r.status = 'escalated', false) as waits
       from deliveries d
       join webhooks w on w.id = d.webhook_id
       left join replies r on r.id = (d.data ->> 'prediction_id')::uuid and r.account_id = w.account_id
      where d.webhook_id = ? and d.next_attempt_at is not null order by d.id limit ${QUESTIONS_MAX}`,
    [webhook],
  );
}

/** How the mail of some questions ended; `needless`: none of them waits any more. */
export type MailOutcome = { is: 'sent' | 'needless' } | { is: 'failed'; reason: string; isFinal: boolean };

export function storeMailed(
  em: EntityManager,
  id: string,
  deliveries: readonly string[],
  outcome: MailOutcome,
): Promise<void> {
  return transaction(em, async (tx) => {
    // Locks the webhook before its deliveries, as its deletion does.
    const [webhook] = await tx.execute<{ failures: number }[]>(
      'select failures from webhooks where id = ? for no key update',
      [id],
    );
    if (webhook === undefined) return;
    const these = { webhook: id, id: { $in: [...deliveries] }, state: 'pending' } as const;
    const attempt = { attempts: raw('attempts + 1'), lastAttemptAt: raw('now()') };
    if (outcome.is !== 'failed') {
      await tx.nativeUpdate(Delivery, these, { ...attempt, ...ENDED, state: 'delivered', reason: null });
      await tx.nativeUpdate(Webhook, { id }, { failures: 0, failingSince: null });
      if (outcome.is === 'needless') return;
      const next = inMs(MAIL_WINDOW_MS);
      await tx.nativeUpdate(Webhook, { id }, { restsUntil: next });
      const others = { webhook: id, nextAttemptAt: { $ne: null } };
      await tx.nativeUpdate(Delivery, others, { nextAttemptAt: next });
      return;
    }
    const failures = webhook.failures + 1;
    const again = inMs(backoffMs(failures, RETRY));
    await tx.nativeUpdate(
      Webhook,
      { id },
      { failures, failingSince: raw('coalesce(failing_since, now())'), restsUntil: again },
    );
    await tx.nativeUpdate(Delivery, these, { ...attempt, reason: outcome.reason, nextAttemptAt: again });
    const tooOld = raw(`now() - interval '${TRIED_FOR_S} s'`);
    const over = { ...these, ...(!outcome.isFinal && { triedFrom: { $lte: tooOld } }) };
    await tx.nativeUpdate(Delivery, over, { ...ENDED, state: 'failed' });
  });
}

const ENDED = { nextAttemptAt: null };
