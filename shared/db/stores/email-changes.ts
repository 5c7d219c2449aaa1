import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Login } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { Account, EmailChange, PasswordReset } from '../entities/account.ts';
import { unlessTaken } from '../faults.ts';
import { transaction } from '../statement.ts';
import { emailKey } from './accounts.ts';
import { issueToken, isValid } from './log-ins.ts';
import { lockLogIns } from './own-log-ins.ts';
import { confirmEscalationMail } from './webhooks/mails.ts';

/**
 * Issues the token of a link that confirms the new address, and ends an earlier one of the account. Throws
 * `access_denied` if the password was changed meanwhile, and what `lockLogIns` throws.
 */
export function askForEmail(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
  caller: Login,
  email: string,
): Promise<string> {
  return transaction(em, async (tx) => {
    await lockLogIns(tx, account.id, caller);
    await tx.nativeDelete(EmailChange, { account: account.id });
    const more = { email: email.normalize('NFC').trim() };
    const issued = await issueToken(tx, 'email_changes', account, { more });
    if (issued === undefined) throw new AppError('access_denied');
    return issued.token;
  });
}

/** The address that a link confirms; undefined if the link has ended. */
export async function emailOfLink(em: EntityManager, token: string): Promise<string | undefined> {
  return (await findChange(em, token))?.email;
}

function findChange(em: EntityManager, token: string) {
  return em.findOne(EmailChange, isValid(token), { populate: ['account'] });
}

/**
 * Gives the account its new address, and ends links that were mailed to the old one. The link may also confirm the
 * present address, for `beginEscalationMail`. Log-ins go on. Returns both addresses; undefined if the link has ended.
 * Throws `email_taken`.
 */
export function confirmEmail(
  em: EntityManager,
  token: string,
): Promise<{ accountId: string; before: string; email: string } | undefined> {
  return transaction(em, async (tx) => {
    const change = await findChange(tx, token);
    // Of two who confirm at once, the second finds nothing to delete.
    if (change === null || (await tx.nativeDelete(EmailChange, { hash: change.hash })) === 0)
      return undefined;
    const { account, email } = change;
    const changed = { email, emailKey: emailKey(email), updatedAt: raw('now()') };
    const update = () => tx.nativeUpdate(Account, { id: account.id, active: true }, changed);
    await unlessTaken('email_taken', update);
    await tx.nativeDelete(PasswordReset, { account: account.id });
    await confirmEscalationMail(tx, account.id);
    return { accountId: account.id, before: account.email, email };
  });
}
