import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { newId } from '../../shared/ids.ts';

/** Difference allowed between the clocks of two ingresses. */
const CLOCK_TOLERANCE_S = 5;
/** The only algorithm accepted, whatever a token's header says. */
const ALGORITHM = 'HS256';

/** A kind of token. Its `typ` keeps one kind from passing for another (RFC 8725, 3.11). */
interface TokenKind {
  typ: string;
  lifetimeS: number;
}

/** Signs tokens (RFC 7519) with the first key, and verifies those that any of the keys has signed. */
export class SignedTokens {
  readonly issuer: string;
  readonly #signing: { kid: string; key: Uint8Array };
  readonly #keys: ReadonlyMap<string, Uint8Array>;

  constructor(issuer: string, keys: readonly { kid: string; secret: string }[]) {
    this.issuer = issuer;
    const [first, ...others] = keys.map(({ kid, secret }) => ({ kid, key: Buffer.from(secret) }));
    if (first === undefined) throw new Error('no signing key');
    this.#signing = first;
    this.#keys = new Map([first, ...others].map(({ kid, key }) => [kid, key]));
  }

  sign({ typ, lifetimeS }: TokenKind, audience: string, claims: JWTPayload): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ, kid: this.#signing.kid })
      .setIssuer(this.issuer)
      .setAudience(audience)
      .setJti(newId())
      .setIssuedAt()
      .setExpirationTime(`${lifetimeS} s`)
      .sign(this.#signing.key);
  }

  /** Without `audience`, the caller checks it. */
  async verify(
    token: string,
    { typ, lifetimeS }: TokenKind,
    audience?: string,
  ): Promise<JWTPayload | 'expired' | 'invalid'> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
        algorithms: [ALGORITHM],
        typ,
        issuer: this.issuer,
        ...(audience !== undefined && { audience }),
        requiredClaims: ['aud', 'jti', 'iat', 'exp'],
        // Also rejects tokens issued in the future.
        maxTokenAge: lifetimeS,
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      return payload;
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
