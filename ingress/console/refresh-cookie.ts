import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';

/** As long as a refresh token is good for. */
const LIFETIME_S = 30 * 24 * 60 * 60;
const TOKEN = /^[\w-]{43}$/;

/**
 * The cookie that keeps the console's refresh token where no script can read it. Nothing but the three endpoints below
 * `/console/auth/` looks at it, and it gives nothing but an access token, which only a page of our own origin can read.
 * Under https its name's prefix keeps other hosts of the domain, and plain http, from planting one (RFC 6265bis,
 * 4.1.3.2); the prefix wants the path `/`.
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

  /** The token; undefined where there is none. Throws `access_denied` for a request that another site's page sent. */
  read(headers: IncomingHttpHeaders): string | undefined {
    requireOwnPage(headers);
    const pairs = (headers.cookie ?? '').split('; ').map((pair) => pair.split('='));
    const [, value] = pairs.find(([name]) => name === this.#name) ?? [];
    return value !== undefined && TOKEN.test(value) ? value : undefined;
  }

  /** The header that gives the browser this token. */
  keep(token: string): Record<string, string> {
    return { 'Set-Cookie': `${this.#name}=${token}; Max-Age=${LIFETIME_S}; ${this.#attributes}` };
  }

  /** The header that takes it away. */
  forget(): Record<string, string> {
    return { 'Set-Cookie': `${this.#name}=; Max-Age=0; ${this.#attributes}` };
  }
}

/**
 * Browsers say who sends a request (Fetch Metadata). `SameSite` alone would let pages of sibling hosts in; a program sends
 * nothing, and has no cookie of a person's.
 */
export function requireOwnPage(headers: IncomingHttpHeaders): void {
  if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') throw new AppError('access_denied');
}
