import type { Login } from '../../shared/domain/account.ts';
import { apiResource } from '../../shared/domain/resource.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type { SignedTokens } from './signed-tokens.ts';

const KIND = { typ: 'JWT', lifetimeS: 3600 };

/**
 * The log-in of an access token. Its id is the claim `sid`, its time, at which the person entered the password,
 * `auth_time` (OIDC Core 1.0, 2), its generation `gen`: a new password, or logging out everywhere, begins a new one.
 */
export interface AccessToken extends Login {
  accountId: string;
}

/** Issues the access tokens of log-ins, and verifies that a token was issued for this `/api`. */
export class AccessTokens {
  readonly #tokens: SignedTokens;
  readonly #audience: string;

  constructor(tokens: SignedTokens) {
    this.#tokens = tokens;
    this.#audience = apiResource({ publicUrl: tokens.issuer });
  }

  issue({ id, accountId, loggedInAt, generation }: AccessToken): Promise<string> {
    const claims = { sub: accountId, sid: id, auth_time: Math.floor(loggedInAt), gen: generation };
    return this.#tokens.sign(KIND, this.#audience, claims);
  }

  async verify(token: string): Promise<AccessToken | 'expired' | 'invalid'> {
    const payload = await this.#tokens.verify(token, KIND, this.#audience);
    if (typeof payload === 'string') return payload;
    const { sub = '', sid: id, auth_time: loggedInAt, gen: generation } = payload;
    if (typeof id !== 'string' || !UUID.test(id) || !UUID.test(sub)) return 'invalid';
    if (typeof loggedInAt !== 'number' || typeof generation !== 'number') return 'invalid';
    return { id, accountId: sub, loggedInAt, generation };
  }
}
