import { GRANT_TOKEN_TYPE, isOwnResource, type ResourcePlaces } from '../../shared/domain/resource.ts';
import { SCOPES, type Scope } from '../../shared/schemas/accounts.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type { SignedTokens } from './signed-tokens.ts';

const KIND = { typ: GRANT_TOKEN_TYPE, lifetimeS: 3600 };

export interface GrantToken {
  accountId: string;
  grantId: string;
  clientId: string;
  resource: string;
  scopes: readonly Scope[];
}

/** Issues the access tokens of programs that a person has let in (RFC 9068), and verifies them. */
export class GrantTokens {
  static readonly lifetimeS = KIND.lifetimeS;
  readonly #tokens: SignedTokens;
  readonly #places: ResourcePlaces;

  constructor(tokens: SignedTokens, places: ResourcePlaces) {
    this.#tokens = tokens;
    this.#places = places;
  }

  issue({ accountId, grantId, clientId, resource, scopes }: GrantToken): Promise<string> {
    const claims = { sub: accountId, gid: grantId, client_id: clientId, scope: scopes.join(' ') };
    return this.#tokens.sign(KIND, resource, claims);
  }

  async verify(token: string): Promise<GrantToken | 'expired' | 'invalid'> {
    const payload = await this.#tokens.verify(token, KIND);
    if (typeof payload === 'string') return payload;
    const { sub = '', gid, client_id: clientId, scope, aud } = payload;
    if (typeof gid !== 'string' || !UUID.test(gid) || !UUID.test(sub)) return 'invalid';
    if (typeof clientId !== 'string' || typeof scope !== 'string') return 'invalid';
    if (typeof aud !== 'string' || !isOwnResource(aud, this.#places)) return 'invalid';
    return { accountId: sub, grantId: gid, clientId, resource: aud, scopes: scopesIn(scope) };
  }
}

/** Returns the scopes that a text in the form of RFC 6749, 3.3 names, in their order; others are left out. */
export function scopesIn(text: string): Scope[] {
  const named = new Set(text.split(' '));
  return SCOPES.filter((scope) => named.has(scope));
}
