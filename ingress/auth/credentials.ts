import type { IncomingHttpHeaders } from 'node:http';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { AppPrincipal } from '../../shared/domain/app.ts';
import type { AccessTokens } from '../../shared/security/access-tokens.ts';
import type { CredentialThrottle, Turn } from '../limits/credential-throttle.ts';
import { authenticateApp, type FindApp } from './app-key.ts';
import { cached, type LookUps } from './ttl-cache.ts';
import { authenticateUser, type FindUser } from './user.ts';

/**
 * Who a request acts for, by its headers. Each throws the 401 of its surface, and `rate_limited` when the network of
 * `address` has sent too many wrong credentials.
 */
export interface Credentials {
  app(headers: IncomingHttpHeaders, address: string): Promise<AppPrincipal>;
  user(headers: IncomingHttpHeaders, address: string): Promise<UserPrincipal>;
}

/** Looks each credential up at most once a second. Calls `keyUsed` for every use of an account's key. */
export function createCredentials(
  find: { app: FindApp; user: FindUser },
  tokens: AccessTokens,
  throttle: CredentialThrottle,
  keyUsed: (hash: Buffer) => void,
): Credentials {
  const ofHash = (hash: Buffer) => hash.toString('base64');
  const apps = cached(find.app, ofHash);
  const usersByKey = cached(find.user.byKey, ofHash);
  // A token is one that we have signed: there is nothing to guess. Its generation is in the name, because a new log-in
  // must not be refused for what is cached from before it.
  const usersByToken = cached(find.user.byToken, ({ accountId, generation }) => `${accountId} ${generation}`);
  return {
    app: (headers, address) =>
      throttle.guard(headers, address, (turn) => authenticateApp(headers.authorization, inTurn(apps, turn))),
    user: (headers, address) =>
      throttle.guard(headers, address, (turn) =>
        authenticateUser(
          headers,
          tokens,
          { byToken: usersByToken.find, byKey: inTurn(usersByKey, turn) },
          keyUsed,
        ),
      ),
  };
}

/** Waits for a turn before looking up what may be a guess. */
function inTurn<Key, Found>(lookUps: LookUps<Key, Found>, turn: Turn) {
  return async (key: Key): Promise<Found | undefined> => {
    if (!lookUps.remembers(key)) await turn();
    return lookUps.find(key);
  };
}
