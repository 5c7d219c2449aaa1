import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BOARD_SESSION_S, EARLIER_SESSIONS, ENDED_SESSIONS } from '../../shared/domain/board-session.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { deriveKey } from '../../shared/security/fingerprint.ts';
import { type Limiter, type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';
import { networkOf } from '../request/address.ts';
import type { RequestContext } from '../request/context.ts';

const COOKIE = 'forecue-admin';
const WRONG_TOKEN_LIMIT = { name: 'admin-token', points: 10, windowS: 60 };

/**
 * A session is an expiry time and a random name, signed with a key derived from the token: only its end is stored, any
 * ingress can check a session, and a new token ends all sessions.
 */
export class BoardAccess {
  readonly #digest: Buffer;
  readonly #key: Buffer;
  readonly #wrongTokens: Limiter;
  readonly #ended: Limiter;

  constructor(token: string, limits: Pick<LimiterFactory, 'open'>) {
    this.#digest = digestOf(token);
    this.#key = deriveKey(token, 'forecue board');
    this.#wrongTokens = limits.open(WRONG_TOKEN_LIMIT);
    this.#ended = limits.open(ENDED_SESSIONS);
  }

  async readSession(ctx: RequestContext): Promise<string | undefined> {
    const value = ctx.cookies.get(COOKIE) ?? '';
    const [, session = '', mac = ''] = /^(\d{10}\.[\w-]{22})\.([\w-]{43})$/.exec(value) ?? [];
    const isSigned = session !== '' && this.#isSigned('session', session, mac);
    return isSigned && (await this.isOpen(session)) ? session : undefined;
  }

  /** Throws while the database does not answer. */
  async isOpen(session: string): Promise<boolean> {
    const leftMs = Number.parseInt(session, 10) * 1000 - Date.now();
    const names = [session, EARLIER_SESSIONS];
    const [own, earlier] = await Promise.all(names.map((name) => this.#ended.take(name, 0)));
    const isEarlier = earlier?.allowed === false && leftMs < earlier.resetS * 1000;
    return leftMs > 0 && own?.allowed === true && !isEarlier;
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
    const end = Math.floor(Date.now() / 1000) + BOARD_SESSION_S;
    const session = `${end}.${randomBytes(16).toString('base64url')}`;
    setCookie(ctx, `${session}.${this.#sign('session', session)}`, BOARD_SESSION_S);
  }

  async signOut(ctx: RequestContext, session: string): Promise<void> {
    await this.#ended.take(session);
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
