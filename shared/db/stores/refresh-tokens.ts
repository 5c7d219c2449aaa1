import type { EntityManager } from '@mikro-orm/postgresql';
import { hashKey, newToken } from '../../security/keys.ts';
import { type Account, RefreshToken } from '../entities/account.ts';

const LIFETIME_DAYS = 30;

/**
 * A new refresh token for whoever proved to know the password that the account had when it was read. Undefined when it
 * has another one by now, or is disabled or gone: a change of the password leaves no token of the old one behind.
 */
export async function issueRefreshToken(
  em: EntityManager,
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
): Promise<string | undefined> {
  const { token, hash } = newToken();
  const issued = await em.execute<object[]>(
    `insert into refresh_tokens (hash, account_id, created_at, expires_at)
     select ?, a.id, now(), now() + make_interval(days => ?)
       from accounts a where a.id = ? and a.active and a.password_hash = ? for share of a
     returning 1`,
    [hash, LIFETIME_DAYS, id, passwordHash],
  );
  return issued.length === 1 ? token : undefined;
}

/** The id of the account that a refresh token is good for; undefined when it is unknown, revoked or expired. */
export async function ownerOfRefreshToken(em: EntityManager, token: string): Promise<string | undefined> {
  const [owner] = await em.execute<{ id: string }[]>(
    `select a.id from refresh_tokens t join accounts a on a.id = t.account_id
      where t.hash = ? and t.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return owner?.id;
}

/** Ends a refresh token of the account; what is not one of its own stays as it is. */
export async function revokeRefreshToken(em: EntityManager, accountId: string, token: string): Promise<void> {
  await em.nativeDelete(RefreshToken, { hash: hashKey(token), account: accountId });
}
