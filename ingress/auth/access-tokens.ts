import { errors, jwtVerify, SignJWT } from 'jose';
import { newId } from '../../shared/ids.ts';
import { UUID } from '../../shared/schemas/limits.ts';

const LIFETIME_S = 3600;
/** Difference allowed between the clocks of two ingresses. */
const CLOCK_TOLERANCE_S = 5;
/** The only algorithm accepted, whatever a token's header says. */
const ALGORITHM = 'HS256';

export interface AccessToken {
  accountId: string;
  /** Time at which the person entered the password, in Unix seconds: the claim `auth_time` (OIDC Core 1.0, 2). */
  loggedInAt: number;
  /** The account's log-in generation at `loggedInAt`. A new password, or logging out everywhere, begins a new one. */
  generation: number;
}

/** Issues access tokens (RFC 7519), and verifies that a token was issued by `issuer` for its own `/api`. */
export class AccessTokens {
  readonly #issuer: string;
  readonly #audience: string;
  readonly #signing: { kid: string; key: Uint8Array };
  readonly #keys: ReadonlyMap<string, Uint8Array>;

  constructor(issuer: string, keys: readonly { kid: string; secret: string }[]) {
    this.#issuer = issuer;
    this.#audience = `${issuer}/api`;
    const [first, ...others] = keys.map(({ kid, secret }) => ({ kid, key: Buffer.from(secret) }));
    if (first === undefined) throw new Error('no signing key');
    this.#signing = first;
    this.#keys = new Map([first, ...others].map(({ kid, key }) => [kid, key]));
  }

  issue({ accountId, loggedInAt, generation }: AccessToken): Promise<string> {
    return new SignJWT({ auth_time: Math.floor(loggedInAt), gen: generation })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: this.#signing.kid })
      .setIssuer(this.#issuer)
      .setAudience(this.#audience)
      .setSubject(accountId)
      .setJti(newId())
      .setIssuedAt()
      .setExpirationTime(`${LIFETIME_S} s`)
      .sign(this.#signing.key);
  }

  async verify(token: string): Promise<AccessToken | 'expired' | 'invalid'> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
        algorithms: [ALGORITHM],
        typ: 'JWT',
        issuer: this.#issuer,
        audience: this.#audience,
        requiredClaims: ['sub', 'jti', 'iat', 'exp'],
        // Also rejects tokens issued in the future.
        maxTokenAge: LIFETIME_S,
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      const { sub, auth_time: loggedInAt, gen: generation } = payload;
      if (typeof sub !== 'string' || !UUID.test(sub)) return 'invalid';
      if (typeof loggedInAt !== 'number' || typeof generation !== 'number') return 'invalid';
      return { accountId: sub, loggedInAt, generation };
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
