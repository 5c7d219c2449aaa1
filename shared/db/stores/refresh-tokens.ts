import type { EntityManager } from '@mikro-orm/postgresql';
import { hashKey } from '../../security/keys.ts';
import { type Account, RefreshToken } from '../entities/account.ts';
import { issueLoginToken } from './login-tokens.ts';

const LIFETIME_HOURS = 30 * 24;

/** A new refresh token; undefined when the account has changed since it was read. */
export function issueRefreshToken(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
): Promise<string | undefined> {
  return issueLoginToken(em, 'refresh_tokens', account, LIFETIME_HOURS);
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
