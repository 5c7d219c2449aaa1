import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import { isToken } from '../../shared/security/keys.ts';

/** As long as a refresh token is valid. */
const LIFETIME_S = 30 * 24 * 60 * 60;

/**
 * The cookie with the console's refresh token, which no script can read. Under https, the prefix `__Host-` keeps other
 * hosts of the domain and plain http from planting the cookie, and requires the path `/` (RFC 6265bis, 4.1.3.2).
 */
export class RefreshCookie {
  readonly #name: string;
  readonly #attributes: string;
  readonly #origin: string;

  constructor(publicUrl: string) {
    const { protocol, pathname, origin } = new URL(publicUrl);
    this.#origin = origin;
    const isSecure = protocol === 'https:';
    const path = isSecure ? '/' : `${pathname.replace(/\/$/, '')}/console/auth`;
    this.#name = isSecure ? '__Host-forecue-console' : 'forecue-console';
    this.#attributes = `Path=${path}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** Throws `access_denied` for a request that a page of another origin sent. */
  read(headers: IncomingHttpHeaders): string | undefined {
    this.requireOwnPage(headers);
    const pairs = (headers.cookie ?? '').split('; ').map((pair) => pair.split('='));
    const [, value] = pairs.find(([name]) => name === this.#name) ?? [];
    return value !== undefined && isToken(value) ? value : undefined;
  }

  /**
   * Throws `access_denied` for a request that a page of another origin sent. `SameSite` alone would accept pages of
   * sibling hosts. Old browsers, and all over plain http, send only `Origin`. Accepts programs, which send neither,
   * because they have no person's cookie.
   */
  requireOwnPage({ 'sec-fetch-site': site, origin, host }: IncomingHttpHeaders): void {
    const isOwn =
      site === undefined
        ? [undefined, this.#origin, `http://${host}`].includes(origin)
        : site === 'same-origin';
    if (!isOwn) throw new AppError('access_denied');
  }

  setCookieHeader(token: string): Record<string, string> {
    return { 'Set-Cookie': `${this.#name}=${token}; Max-Age=${LIFETIME_S}; ${this.#attributes}` };
  }

  clearCookieHeader(): Record<string, string> {
    return { 'Set-Cookie': `${this.#name}=; Max-Age=0; ${this.#attributes}` };
  }
}
