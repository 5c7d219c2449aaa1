import type { EntityManager } from '@mikro-orm/postgresql';
import { hashKey, newToken } from '../../security/keys.ts';
import type { Account } from '../entities/account.ts';

/** A person signs in once in a working day. */
const SESSION_HOURS = 8;

/**
 * Signs a browser in to the consent page, for whoever proved to know the password that the account had when it was
 * read: its new token. Undefined when the account has another password by now, or is disabled or gone.
 */
export async function startWebSession(
  em: EntityManager,
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
): Promise<string | undefined> {
  const { token, hash } = newToken();
  const started = await em.execute<object[]>(
    `insert into web_sessions (hash, account_id, created_at, expires_at)
     select ?, a.id, now(), now() + make_interval(hours => ?)
       from accounts a where a.id = ? and a.active and a.password_hash = ? for share of a
     returning 1`,
    [hash, SESSION_HOURS, id, passwordHash],
  );
  return started.length === 1 ? token : undefined;
}

export interface SignedIn {
  accountId: string;
  email: string;
}

/** Who is signed in with this token; undefined when nobody is, or the account was disabled since. */
export async function findWebSession(em: EntityManager, token: string): Promise<SignedIn | undefined> {
  const [found] = await em.execute<SignedIn[]>(
    `select a.id as "accountId", a.email from web_sessions s join accounts a on a.id = s.account_id
      where s.hash = ? and s.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return found;
}

/** Signs the browser with this token out; the second time it changes nothing. */
export async function endWebSession(em: EntityManager, token: string): Promise<void> {
  await em.execute('delete from web_sessions where hash = ?', [hashKey(token)]);
}
