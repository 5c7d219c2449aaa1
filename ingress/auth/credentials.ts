import type { IncomingHttpHeaders } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { createBatcher } from '../../shared/db/batcher.ts';
import { type ActiveAccount, findActiveAccounts } from '../../shared/db/stores/accounts.ts';
import { findAppsByKey } from '../../shared/db/stores/apps.ts';
import { findAccountsByGrant, type GrantPrincipal } from '../../shared/db/stores/grants.ts';
import { findAccountsByKey, markKeysUsed } from '../../shared/db/stores/service-keys.ts';
import { requireCurrentLogin, type UserPrincipal } from '../../shared/domain/account.ts';
import type { AppPrincipal } from '../../shared/domain/app.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import {
  hashKey,
  looksLikeAppKey,
  looksLikeServiceKey,
  startsLikeServiceKey,
} from '../../shared/security/keys.ts';
import type { CredentialThrottle, WaitForTurn } from '../limits/credential-throttle.ts';
import type { AccessToken, AccessTokens } from './access-tokens.ts';
import type { GrantTokens } from './grant-tokens.ts';

/**
 * Authenticates requests. `app` throws `invalid_app_key`, `user` throws `not_authenticated` or `token_expired`. Both
 * throw `rate_limited` when the network of `address` has sent too many wrong credentials.
 */
export interface Credentials {
  app(headers: IncomingHttpHeaders, address: string): Promise<AppPrincipal>;
  user(headers: IncomingHttpHeaders, address: string): Promise<UserPrincipal>;
}

/** Caches each look-up for a second. Calls `recordKeyUse` at every use of a valid service key. */
function createCredentials(
  find: { app: FindApp; user: FindUser },
  tokens: Tokens,
  throttle: CredentialThrottle,
  recordKeyUse: (hash: Buffer) => void,
): Credentials {
  const nameOfHash = (hash: Buffer) => hash.toString('base64');
  const apps = cacheLookups(find.app, nameOfHash);
  const usersByKey = cacheLookups(find.user.byKey, nameOfHash);
  // Tokens are looked up without waiting for a turn: a token that we signed cannot be a guess. The generation is in the
  // cache key, because a result cached for an earlier generation would refuse the token of a new log-in.
  const usersByToken = cacheLookups(find.user.byToken, ({ id, generation }) => `${id} ${generation}`);
  const usersByGrant = cacheLookups(find.user.byGrant, (id) => id);
  return {
    app: (headers, address) =>
      throttle.guard(headers, address, (turn) => authenticateApp(headers.authorization, inTurn(apps, turn))),
    user: (headers, address) =>
      throttle.guard(headers, address, (turn) =>
        authenticateUser(
          headers,
          tokens,
          { byToken: usersByToken.find, byKey: inTurn(usersByKey, turn), byGrant: usersByGrant.find },
          recordKeyUse,
        ),
      ),
  };
}

/** Makes a key that may be a guess wait for a turn before its look-up. */
function inTurn<Key, Found>(lookUps: LookUps<Key, Found>, turn: WaitForTurn) {
  return async (key: Key): Promise<Found | undefined> => {
    if (!lookUps.remembers(key)) await turn();
    return lookUps.find(key);
  };
}

/** Time for which a look-up is remembered. Revoked credentials must stop working within two seconds, delays included. */
export const CREDENTIAL_TTL_MS = 1000;
const ENTRIES_MAX = 10_000;

interface LookUps<Key, Found> {
  find(key: Key): Promise<Found | undefined>;
  /** Returns true for a key that a recent look-up found, or that a look-up within the last second did not find. */
  remembers(key: Key): boolean;
}

/**
 * Caches results for `CREDENTIAL_TTL_MS`, also when nothing was found. `remembers` knows a found key for longer. Unknown
 * keys have a cache of their own, so that they cannot displace found ones.
 */
function cacheLookups<Key, Found extends object>(
  find: (key: Key) => Promise<Found | undefined>,
  nameOf: (key: Key) => string,
): LookUps<Key, Found> {
  const foundEntries = new LRUCache<string, Found>({
    max: ENTRIES_MAX,
    ttl: CREDENTIAL_TTL_MS,
    noDeleteOnStaleGet: true,
  });
  const missedKeys = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: CREDENTIAL_TTL_MS });
  return {
    async find(key) {
      const name = nameOf(key);
      const knownEntry = foundEntries.get(name);
      if (knownEntry !== undefined || missedKeys.has(name)) return knownEntry;
      // The entry's age counts from before the look-up, because the key may be revoked during it.
      const start = performance.now();
      const found = await find(key);
      if (found === undefined) {
        foundEntries.delete(name);
        missedKeys.set(name, true, { start });
      } else foundEntries.set(name, found, { start });
      return found;
    },
    remembers(key) {
      const name = nameOf(key);
      return missedKeys.has(name) || foundEntries.peek(name, { allowStale: true }) !== undefined;
    },
  };
}

const BATCH = { maxItems: 200 };

export function openCredentials(
  { pool, em }: { pool: Pool; em: () => EntityManager },
  tokens: Tokens,
  throttle: CredentialThrottle,
  log: Log,
): Credentials {
  return createCredentials(
    {
      app: createBatcher((hashes: Buffer[]) => findAppsByKey(pool, hashes), BATCH),
      user: {
        byToken: createBatcher((logIns: AccessToken[]) => findActiveAccounts(pool, logIns), BATCH),
        byKey: createBatcher((hashes: Buffer[]) => findAccountsByKey(pool, hashes), BATCH),
        byGrant: createBatcher((ids: string[]) => findAccountsByGrant(pool, ids), BATCH),
      },
    },
    tokens,
    throttle,
    keyUseRecorder(
      createBatcher((hashes: Buffer[]) => markKeysUsed(em(), hashes), BATCH),
      log,
    ),
  );
}

const KEY_USE_WRITE_INTERVAL_MS = 60_000;

/** Records the use of a key at most once a minute, in the background. A write that fails is retried at the next use. */
function keyUseRecorder(write: (hash: Buffer) => Promise<void>, log: Log): (hash: Buffer) => void {
  const recentlyWritten = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: KEY_USE_WRITE_INTERVAL_MS });
  return (hash) => {
    const name = hash.toString('base64');
    if (recentlyWritten.has(name)) return;
    recentlyWritten.set(name, true);
    write(hash).catch((error: unknown) => {
      recentlyWritten.delete(name);
      log.warn({ err: error }, "could not record a key's use");
    });
  };
}

/** Tokens of log-ins, and of programs that a person has let in. */
export interface Tokens {
  logIns: AccessTokens;
  grants: GrantTokens;
}

/** Each returns undefined for an unknown or disabled account, and for an unknown or revoked key or grant. */
interface FindUser {
  /** Finds a token's account. Its generation of log-ins is the current one, and may be newer than the token's. */
  byToken(token: AccessToken): Promise<ActiveAccount | undefined>;
  byKey(hash: Buffer): Promise<UserPrincipal | undefined>;
  byGrant(id: string): Promise<GrantPrincipal | undefined>;
}

/** If a token and a key are sent, both must be valid and belong to the same account. */
async function authenticateUser(
  headers: IncomingHttpHeaders,
  tokens: Tokens,
  find: FindUser,
  recordKeyUse: (hash: Buffer) => void,
): Promise<UserPrincipal> {
  const key = headers['x-service-api-key'];
  const { authorization } = headers;
  const users = [
    ...(authorization === undefined ? [] : [await byToken(bearerOf(authorization), tokens, find)]),
    ...(key === undefined ? [] : [await byKey(String(key), find, recordKeyUse)]),
  ];
  const [user] = users;
  if (user === undefined || users.some((other) => other?.id !== user.id))
    throw new AppError('not_authenticated');
  return user;
}

async function byToken(
  token: string | undefined,
  tokens: Tokens,
  find: FindUser,
): Promise<UserPrincipal | undefined> {
  if (token === undefined || startsLikeServiceKey(token)) return undefined;
  const claims = await tokens.logIns.verify(token);
  if (claims === 'expired') throw new AppError('token_expired');
  if (claims === 'invalid') return byGrant(token, tokens.grants, find);
  const account = await find.byToken(claims);
  if (account === undefined) return undefined;
  if (account.hasEnded) throw new AppError('token_expired');
  requireCurrentLogin(claims, account.generation);
  return { id: account.id, login: claims, thresholdFloor: account.thresholdFloor };
}

async function byGrant(
  token: string,
  tokens: GrantTokens,
  find: FindUser,
): Promise<UserPrincipal | undefined> {
  const claims = await tokens.verify(token);
  if (claims === 'expired') throw new AppError('token_expired');
  if (claims === 'invalid') return undefined;
  const user = await find.byGrant(claims.grantId);
  // The person may have left the program fewer scopes since.
  return user && { ...user, scopes: user.scopes.filter((scope) => claims.scopes.includes(scope)) };
}

async function byKey(
  key: string,
  find: FindUser,
  recordKeyUse: (hash: Buffer) => void,
): Promise<UserPrincipal | undefined> {
  // The checksum catches typos without a look-up.
  if (!looksLikeServiceKey(key)) return undefined;
  const hash = hashKey(key);
  const user = await find.byKey(hash);
  if (user !== undefined) recordKeyUse(hash);
  return user;
}

/** Returns undefined for an unknown, expired or revoked key, and for an app that is not active. */
type FindApp = (hash: Buffer) => Promise<AppPrincipal | undefined>;

async function authenticateApp(authorization: string | undefined, findApp: FindApp): Promise<AppPrincipal> {
  const key = bearerOf(authorization);
  const app = key !== undefined && looksLikeAppKey(key) ? await findApp(hashKey(key)) : undefined;
  if (app === undefined) throw new AppError('invalid_app_key');
  return app;
}

/** Accepts `Bearer` in any case (RFC 9110, 11.1). */
function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1];
}
