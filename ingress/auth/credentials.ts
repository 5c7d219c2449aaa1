import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { createBatcher } from '../../shared/db/batcher.ts';
import { type ActiveAccount, findActiveAccounts } from '../../shared/db/stores/accounts.ts';
import { findAppsByKey } from '../../shared/db/stores/apps.ts';
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

/**
 * Finds the app or account that a request acts for, by its headers. Both methods throw the 401 of their surface, and
 * `rate_limited` when the network of `address` has sent too many wrong credentials.
 */
export interface Credentials {
  app(headers: IncomingHttpHeaders, address: string): Promise<AppPrincipal>;
  user(headers: IncomingHttpHeaders, address: string): Promise<UserPrincipal>;
}

/** Finds apps and accounts, caching each look-up for a second. Calls `recordKeyUse` for every use of a valid key. */
export function createCredentials(
  find: { app: FindApp; user: FindUser },
  tokens: AccessTokens,
  throttle: CredentialThrottle,
  recordKeyUse: (hash: Buffer) => void,
): Credentials {
  const nameOfHash = (hash: Buffer) => hash.toString('base64');
  const apps = cacheLookups(find.app, nameOfHash);
  const usersByKey = cacheLookups(find.user.byKey, nameOfHash);
  // Tokens need no turn: only those that we signed are looked up. The cache key contains the token's generation of
  // log-ins, so that a new log-in is not refused because of an older result.
  const usersByToken = cacheLookups(
    find.user.byToken,
    ({ accountId, generation }) => `${accountId} ${generation}`,
  );
  return {
    app: (headers, address) =>
      throttle.guard(headers, address, (turn) => authenticateApp(headers.authorization, inTurn(apps, turn))),
    user: (headers, address) =>
      throttle.guard(headers, address, (turn) =>
        authenticateUser(
          headers,
          tokens,
          { byToken: usersByToken.find, byKey: inTurn(usersByKey, turn) },
          recordKeyUse,
        ),
      ),
  };
}

/** Wraps look-ups, so that a key that may be a guess waits for a turn first. */
function inTurn<Key, Found>(lookUps: LookUps<Key, Found>, turn: WaitForTurn) {
  return async (key: Key): Promise<Found | undefined> => {
    if (!lookUps.remembers(key)) await turn();
    return lookUps.find(key);
  };
}

/** Time for which look-ups are cached. Revoked credentials must stop working within two seconds, delays included. */
const TTL_MS = 1000;
const ENTRIES_MAX = 10_000;

/** Cached look-ups. */
interface LookUps<Key, Found> {
  find(key: Key): Promise<Found | undefined>;
  /**
   * Returns true if the key was valid lately, or a look-up within the last second failed to find it. Neither can be a
   * new guess, so neither waits for a turn.
   */
  remembers(key: Key): boolean;
}

/**
 * Caches each result of a look-up for a second, even if nothing was found, so that a busy caller does not cost a
 * look-up for each call. For `remembers`, keeps found keys for longer; unknown keys never displace them.
 */
export function cacheLookups<Key, Found extends object>(
  find: (key: Key) => Promise<Found | undefined>,
  nameOf: (key: Key) => string,
): LookUps<Key, Found> {
  const foundEntries = new LRUCache<string, Found>({
    max: ENTRIES_MAX,
    ttl: TTL_MS,
    noDeleteOnStaleGet: true,
  });
  const missedKeys = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: TTL_MS });
  return {
    async find(key) {
      const name = nameOf(key);
      const cached = foundEntries.get(name);
      if (cached !== undefined || missedKeys.has(name)) return cached;
      // Read before the look-up, because the result is as old as the look-up's start.
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

/** Maximum look-ups that share a statement, when they arrive together. */
const BATCH = { maxItems: 200 };

/** Opens credentials that are looked up in the database. */
export function openCredentials(
  pool: Pool,
  tokens: AccessTokens,
  throttle: CredentialThrottle,
  log: Log,
): Credentials {
  const byId = createBatcher((ids: string[]) => findActiveAccounts(pool, ids), BATCH);
  return createCredentials(
    {
      app: createBatcher((hashes: Buffer[]) => findAppsByKey(pool, hashes), BATCH),
      user: {
        byToken: ({ accountId }) => byId(accountId),
        byKey: createBatcher((hashes: Buffer[]) => findAccountsByKey(pool, hashes), BATCH),
      },
    },
    tokens,
    throttle,
    keyUseRecorder(
      createBatcher((hashes: Buffer[]) => markKeysUsed(pool, hashes), BATCH),
      log,
    ),
  );
}

const KEY_USE_WRITE_INTERVAL_MS = 60_000;

/**
 * Records when a key is used, at most once a minute per key and ingress, so that a busy key does not cost a write for
 * each call. No caller waits for the write; one that fails is retried with the key's next use.
 */
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

/** Looks up the owner of a credential; undefined when it is unknown or no longer valid, or the account is disabled. */
interface FindUser {
  /**
   * Finds a token's account, with its current generation of log-ins. The token's own generation may be an older one.
   */
  byToken(token: AccessToken): Promise<ActiveAccount | undefined>;
  byKey(hash: Buffer): Promise<UserPrincipal | undefined>;
}

/**
 * Finds the account that a request acts for, by an access token in `Authorization: Bearer` or a key in
 * `X-Service-API-Key`. If both are sent, both must be valid and belong to the same account. Throws `not_authenticated`
 * or `token_expired`.
 */
async function authenticateUser(
  headers: IncomingHttpHeaders,
  tokens: AccessTokens,
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
  tokens: AccessTokens,
  find: FindUser,
): Promise<UserPrincipal | undefined> {
  if (token === undefined || startsLikeServiceKey(token)) return undefined;
  const claims = await tokens.verify(token);
  if (claims === 'expired') throw new AppError('token_expired');
  if (claims === 'invalid') return undefined;
  const account = await find.byToken(claims);
  if (account === undefined) return undefined;
  requireCurrentLogin(claims, account.generation);
  return { id: account.id, login: claims };
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

/** Looks an app up by the SHA-256 of its key; undefined when the key is unknown or no longer valid. */
type FindApp = (hash: Buffer) => Promise<AppPrincipal | undefined>;

/** Finds the app whose key the `Authorization` header carries. Throws `invalid_app_key`. */
export async function authenticateApp(
  authorization: string | undefined,
  findApp: FindApp,
): Promise<AppPrincipal> {
  const key = bearerOf(authorization);
  const app = key !== undefined && looksLikeAppKey(key) ? await findApp(hashKey(key)) : undefined;
  if (app === undefined) throw new AppError('invalid_app_key');
  return app;
}

/** Returns the value of an `Authorization: Bearer` header; scheme names are case-insensitive (RFC 9110, 11.1). */
function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1];
}
