import type { EntityManager } from '@mikro-orm/postgresql';
import { hashKey } from '../../security/keys.ts';
import type { Account } from '../entities/account.ts';
import { issueLoginToken } from './login-tokens.ts';

/** A working day, so that a person signs in once. */
const SESSION_HOURS = 8;

/**
 * Signs a browser in to the consent page. Returns its token; undefined when the account has changed since it was read.
 */
export async function startWebSession(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
): Promise<string | undefined> {
  const issued = await issueLoginToken(em, 'web_sessions', account, SESSION_HOURS);
  return issued?.token;
}

export interface SignedIn {
  accountId: string;
  email: string;
}

/** Who is signed in with this token; undefined when nobody is, or the account has been disabled. */
export async function findWebSession(em: EntityManager, token: string): Promise<SignedIn | undefined> {
  const [found] = await em.execute<SignedIn[]>(
    `select a.id as "accountId", a.email from web_sessions s join accounts a on a.id = s.account_id
      where s.hash = ? and s.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return found;
}

/** Signs out the browser with this token; safe to repeat. */
export async function endWebSession(em: EntityManager, token: string): Promise<void> {
  await em.execute('delete from web_sessions where hash = ?', [hashKey(token)]);
}
