import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { hashKey } from '../../security/keys.ts';
import { type Account, RefreshToken } from '../entities/account.ts';
import { issueLoginToken, type LoginToken } from './login-tokens.ts';

const LIFETIME_HOURS = 30 * 24;

/** Issues a refresh token. Throws `invalid_credentials` when the account has changed since it was read. */
export async function issueRefreshToken(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
): Promise<LoginToken> {
  const issued = await issueLoginToken(em, 'refresh_tokens', account, LIFETIME_HOURS);
  if (issued === undefined) throw new AppError('invalid_credentials');
  return issued;
}

/** The account that a refresh token belongs to, when it logged in, in Unix seconds, and in which generation. */
interface Owner {
  accountId: string;
  loggedInAt: number;
  generation: number;
}

/** Whom a refresh token belongs to; undefined when it is unknown, revoked or expired. */
export async function ownerOfRefreshToken(em: EntityManager, token: string): Promise<Owner | undefined> {
  const [owner] = await em.execute<Owner[]>(
    `select a.id as "accountId", extract(epoch from t.created_at)::float8 as "loggedInAt",
            a.login_generation as generation
       from refresh_tokens t join accounts a on a.id = t.account_id
      where t.hash = ? and t.expires_at > now() and a.active`,
    [hashKey(token)],
  );
  return owner;
}

/** Revokes a refresh token of the account; another account's token is left alone. */
export async function revokeRefreshToken(em: EntityManager, accountId: string, token: string): Promise<void> {
  await em.nativeDelete(RefreshToken, { hash: hashKey(token), account: accountId });
}
