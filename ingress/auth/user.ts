import type { IncomingHttpHeaders } from 'node:http';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { AccessTokens } from '../../shared/security/access-tokens.ts';
import { hashKey, isServiceKeyShaped, looksLikeServiceKey } from '../../shared/security/keys.ts';
import { bearerOf } from './bearer.ts';

/** How the owner of a credential is found; undefined when it is not, or no longer, good, or the account is disabled. */
export interface FindUser {
  byId(accountId: string): Promise<UserPrincipal | undefined>;
  byKey(hash: Buffer): Promise<UserPrincipal | undefined>;
}

/**
 * The account that a request acts for: an access token in `Authorization: Bearer`, a key in `X-Service-API-Key`. With
 * both headers both must be good, and the same account's. Throws `not_authenticated` or `token_expired`.
 */
export async function authenticateUser(
  headers: IncomingHttpHeaders,
  tokens: AccessTokens,
  find: FindUser,
  keyUsed: (hash: Buffer) => void,
): Promise<UserPrincipal> {
  const key = headers['x-service-api-key'];
  const { authorization } = headers;
  const users = [
    ...(authorization === undefined ? [] : [await byToken(bearerOf(authorization), tokens, find)]),
    ...(key === undefined ? [] : [await byKey(String(key), find, keyUsed)]),
  ];
  const [user] = users;
  if (user === undefined || users.some((other) => other?.id !== user.id))
    throw new AppError('not_authenticated');
  return user;
}

async function byToken(
  token: string | undefined,
  tokens: AccessTokens,
  find: FindUser,
): Promise<UserPrincipal | undefined> {
  if (token === undefined || isServiceKeyShaped(token)) return undefined;
  const verified = await tokens.verify(token);
  if (verified === 'expired') throw new AppError('token_expired');
  return verified === 'invalid' ? undefined : find.byId(verified.accountId);
}

async function byKey(
  key: string,
  find: FindUser,
  keyUsed: (hash: Buffer) => void,
): Promise<UserPrincipal | undefined> {
  // A typo is told by the checksum, and costs no look-up.
  if (!looksLikeServiceKey(key)) return undefined;
  const hash = hashKey(key);
  const user = await find.byKey(hash);
  if (user !== undefined) keyUsed(hash);
  return user;
}
