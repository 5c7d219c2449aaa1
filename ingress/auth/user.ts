import type { IncomingHttpHeaders } from 'node:http';
import type { ActiveAccount } from '../../shared/db/stores/accounts.ts';
import { requireCurrent, type UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { AccessToken, AccessTokens } from '../../shared/security/access-tokens.ts';
import { hashKey, isServiceKeyShaped, looksLikeServiceKey } from '../../shared/security/keys.ts';
import { bearerOf } from './bearer.ts';

/** Looks up the owner of a credential; undefined when it is unknown or no longer valid, or the account is disabled. */
export interface FindUser {
  /** With the generation of its account's log-ins, which the token's may be behind. */
  byToken(token: AccessToken): Promise<ActiveAccount | undefined>;
  byKey(hash: Buffer): Promise<UserPrincipal | undefined>;
}

/**
 * The account that a request acts for: by an access token in `Authorization: Bearer`, or a key in `X-Service-API-Key`.
 * If both are sent, both must be valid and belong to the same account. Throws `not_authenticated` or `token_expired`.
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
  if (verified === 'invalid') return undefined;
  const account = await find.byToken(verified);
  if (account === undefined) return undefined;
  requireCurrent(verified, account.generation);
  return { id: account.id, login: verified };
}

async function byKey(
  key: string,
  find: FindUser,
  keyUsed: (hash: Buffer) => void,
): Promise<UserPrincipal | undefined> {
  // The checksum catches typos without a look-up.
  if (!looksLikeServiceKey(key)) return undefined;
  const hash = hashKey(key);
  const user = await find.byKey(hash);
  if (user !== undefined) keyUsed(hash);
  return user;
}
