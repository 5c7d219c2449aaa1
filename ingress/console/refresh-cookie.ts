import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import { isToken } from '../../shared/security/keys.ts';

/** Time for which the browser keeps the cookie: as long as a refresh token is valid. */
const LIFETIME_S = 30 * 24 * 60 * 60;

/**
 * The cookie that keeps the console's refresh token where no script can read it. Only the endpoints below
 * `/console/auth/` use it, and it yields only an access token, which only a page of our own origin can read. Under
 * https, the prefix of its name keeps other hosts of the domain, and plain http, from planting such a cookie (RFC
 * 6265bis, 4.1.3.2); the prefix requires the path `/`.
 */
export class RefreshCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor(publicUrl: string) {
    const { protocol, pathname } = new URL(publicUrl);
    const isSecure = protocol === 'https:';
    const path = isSecure ? '/' : `${pathname.replace(/\/$/, '')}/console/auth`;
    this.#name = isSecure ? '__Host-forecue-console' : 'forecue-console';
    this.#attributes = `Path=${path}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** Returns the token, if there is one. Throws `access_denied` for a request that a page of another origin sent. */
  read(headers: IncomingHttpHeaders): string | undefined {
    requireSameOrigin(headers);
    const pairs = (headers.cookie ?? '').split('; ').map((pair) => pair.split('='));
    const [, value] = pairs.find(([name]) => name === this.#name) ?? [];
    return value !== undefined && isToken(value) ? value : undefined;
  }

  /** Returns the header that makes the browser keep this token. */
  keep(token: string): Record<string, string> {
    return { 'Set-Cookie': `${this.#name}=${token}; Max-Age=${LIFETIME_S}; ${this.#attributes}` };
  }

  /** Returns the header that makes the browser forget its token. */
  forget(): Record<string, string> {
    return { 'Set-Cookie': `${this.#name}=; Max-Age=0; ${this.#attributes}` };
  }
}

/**
 * Throws `access_denied` for a request that a page of another origin sent, as browsers report (Fetch Metadata).
 * `SameSite` alone would let pages of sibling hosts in. A program sends no such header, but has no person's cookie
 * either.
 */
export function requireSameOrigin(headers: IncomingHttpHeaders): void {
  if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') throw new AppError('access_denied');
}
