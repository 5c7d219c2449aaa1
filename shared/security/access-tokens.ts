import { errors, jwtVerify, SignJWT } from 'jose';
import type { SigningKeys } from '../config/signing-keys.ts';
import { newId } from '../ids.ts';
import { UUID } from '../schemas/limits.ts';

const LIFETIME_S = 3600;
/** How far the clocks of two ingresses may be apart. */
const CLOCK_TOLERANCE_S = 5;
/** The one algorithm, whatever a token's header says. */
const ALGORITHM = 'HS256';

/** What a token turned out to be: an account's, too old, or none of ours. */
export type VerifiedToken = { accountId: string } | 'expired' | 'invalid';

/** Issues and verifies access tokens (RFC 7519) of one issuer, for its own `/api` only. */
export class AccessTokens {
  readonly #issuer: string;
  readonly #audience: string;
  readonly #signing: { kid: string; key: Uint8Array };
  readonly #keys: ReadonlyMap<string, Uint8Array>;

  constructor(issuer: string, keys: SigningKeys) {
    this.#issuer = issuer;
    this.#audience = `${issuer}/api`;
    const [first, ...others] = keys.map(({ kid, secret }) => ({ kid, key: Buffer.from(secret) }));
    if (first === undefined) throw new Error('no signing key');
    this.#signing = first;
    this.#keys = new Map([first, ...others].map(({ kid, key }) => [kid, key]));
  }

  /** A token that is good for an hour. */
  issue(accountId: string): Promise<string> {
    return new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: this.#signing.kid })
      .setIssuer(this.#issuer)
      .setAudience(this.#audience)
      .setSubject(accountId)
      .setJti(newId())
      .setIssuedAt()
      .setExpirationTime(`${LIFETIME_S} s`)
      .sign(this.#signing.key);
  }

  async verify(token: string): Promise<VerifiedToken> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
        algorithms: [ALGORITHM],
        typ: 'JWT',
        issuer: this.#issuer,
        audience: this.#audience,
        requiredClaims: ['sub', 'jti', 'iat', 'exp'],
        // Also refuses what was issued in the future.
        maxTokenAge: LIFETIME_S,
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      const { sub } = payload;
      return typeof sub === 'string' && UUID.test(sub) ? { accountId: sub } : 'invalid';
    } catch (error) {
      return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
    }
  }

  #keyOf(kid: string | undefined): Uint8Array {
    const key = this.#keys.get(kid ?? '');
    if (key === undefined) throw new Error('unknown key id');
    return key;
  }
}
