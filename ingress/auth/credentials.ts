import type { IncomingHttpHeaders } from 'node:http';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { AppPrincipal } from '../../shared/domain/app.ts';
import type { AccessTokens } from '../../shared/security/access-tokens.ts';
import { authenticateApp, type FindApp } from './app-key.ts';
import { remember } from './remember.ts';
import { authenticateUser, type FindUser } from './user.ts';

/** Who a request acts for, by its headers. Each throws the 401 of its surface. */
export interface Credentials {
  app(headers: IncomingHttpHeaders): Promise<AppPrincipal>;
  user(headers: IncomingHttpHeaders): Promise<UserPrincipal>;
}

/** Credentials that are looked up once a second at most, each. `keyUsed` is told of every use of an account's key. */
export function createCredentials(
  find: { app: FindApp; user: FindUser },
  tokens: AccessTokens,
  keyUsed: (hash: Buffer) => void,
): Credentials {
  const ofHash = (hash: Buffer) => hash.toString('base64');
  const findApp = remember(find.app, ofHash);
  const findUser = { byId: remember(find.user.byId, (id) => id), byKey: remember(find.user.byKey, ofHash) };
  return {
    app: (headers) => authenticateApp(headers.authorization, findApp),
    user: (headers) => authenticateUser(headers, tokens, findUser, keyUsed),
  };
}
