import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../shared/errors/app-error.ts';
import { deriveKey } from '../../shared/security/fingerprint.ts';
import { networkOf } from '../http/address.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type Limiter, type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';

const COOKIE = 'forecue-admin';
const LIFETIME_S = 8 * 60 * 60;
const WRONG_TOKEN_LIMIT = { name: 'admin-token', points: 10, windowS: 60 };

/**
 * A session is an expiry time and a random name, signed with a key derived from the token: nothing is stored, any
 * ingress can check a session, and a new token ends all sessions.
 */
export class BoardAccess {
  readonly #digest: Buffer;
  readonly #key: Buffer;
  readonly #wrongTokens: Limiter;

  constructor(token: string, limits: Pick<LimiterFactory, 'open'>) {
    this.#digest = digestOf(token);
    this.#key = deriveKey(token, 'forecue board');
    this.#wrongTokens = limits.open(WRONG_TOKEN_LIMIT);
  }

  readSession(ctx: RequestContext): string | undefined {
    const value = ctx.cookies.get(COOKIE) ?? '';
    const [, session = '', end = '', mac = ''] = /^((\d{10})\.[\w-]{22})\.([\w-]{43})$/.exec(value) ?? [];
    return session !== '' && this.#isSigned('session', session, mac) && Number(end) * 1000 > Date.now()
      ? session
      : undefined;
  }

  /**
   * Throws `not_authenticated` for a wrong token, `rate_limited` after too many. Counts before the check, so that
   * concurrent guesses count.
   */
  async signIn(ctx: RequestContext, token: string): Promise<void> {
    const network = networkOf(ctx.state.address);
    await takeOrRefuse(this.#wrongTokens, network);
    if (!timingSafeEqual(digestOf(token), this.#digest)) throw new AppError('not_authenticated');
    await this.#wrongTokens.refund(network);
    const end = Math.floor(Date.now() / 1000) + LIFETIME_S;
    const session = `${end}.${randomBytes(16).toString('base64url')}`;
    setCookie(ctx, `${session}.${this.#sign('session', session)}`, LIFETIME_S);
  }

  signOut(ctx: RequestContext): void {
    setCookie(ctx, '', 0);
  }

  csrf(session: string): string {
    return this.#sign('form', session);
  }

  /** Throws `access_denied` unless the form carries this session's CSRF token. */
  requireCsrfToken(session: string, form: URLSearchParams): void {
    if (!this.#isSigned('form', session, form.get('csrf') ?? '')) throw new AppError('access_denied');
  }

  #sign(purpose: 'session' | 'form', text: string): string {
    return createHmac('sha256', this.#key).update(`${purpose} ${text}`).digest('base64url');
  }

  #isSigned(purpose: 'session' | 'form', text: string, mac: string): boolean {
    const given = Buffer.from(mac);
    const expected = Buffer.from(this.#sign(purpose, text));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

/** Throws `access_denied` for a form from a page of another origin, according to `Sec-Fetch-Site` and `Origin`. */
export function requireSameOrigin(ctx: RequestContext): void {
  const site = ctx.get('Sec-Fetch-Site') || 'same-origin';
  const origin = ctx.get('Origin');
  const isOwn = origin === '' || (URL.canParse(origin) && new URL(origin).host === ctx.get('Host'));
  if (!['same-origin', 'none'].includes(site) || !isOwn) throw new AppError('access_denied');
}

/** Hashes a token, because `timingSafeEqual` needs equal lengths. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Marks the cookie `Secure` if a proxy in front reports that the browser uses https. */
function setCookie(ctx: RequestContext, value: string, maxAgeS: number): void {
  const secure = ctx.get('X-Forwarded-Proto') === 'https' ? '; Secure' : '';
  ctx.set(
    'Set-Cookie',
    `${COOKIE}=${value}; Path=/admin; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`,
  );
}
