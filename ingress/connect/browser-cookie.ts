import { newToken } from '../../shared/security/keys.ts';
import type { RequestContext } from '../http/request-context.ts';

const TOKEN = /^[\w-]{43}$/;

/**
 * The one cookie of these pages: a random token that names the browser. Forms are bound to it; after sign-in it is also
 * the session. It is renewed whenever somebody signs in or out, so that a planted one is worth nothing (session
 * fixation). It ends with the browser. Under https its name's prefix keeps other hosts of the domain, and plain http,
 * from planting one (RFC 6265bis, 4.1.3.2); the prefix wants the path `/`, where nothing but these pages reads it.
 */
export class BrowserCookie {
  readonly #name: string;
  readonly #path: string;
  readonly #secure: boolean;

  constructor(publicUrl: string) {
    const { protocol, pathname } = new URL(publicUrl);
    this.#secure = protocol === 'https:';
    this.#name = this.#secure ? '__Host-forecue' : 'forecue';
    this.#path = this.#secure ? '/' : `${pathname.replace(/\/$/, '')}/connect`;
  }

  /** The browser's token, if it has one. */
  read(ctx: RequestContext): string | undefined {
    const value = ctx.cookies.get(this.#name);
    return value !== undefined && TOKEN.test(value) ? value : undefined;
  }

  /** Gives the browser this token, a new one by default, and returns it. */
  write(ctx: RequestContext, token = newToken().token): string {
    // TLS may end at a proxy: our own address tells, not this connection.
    ctx.cookies.secure = this.#secure;
    ctx.cookies.set(this.#name, token, { path: this.#path, httpOnly: true, sameSite: 'lax' });
    return token;
  }
}
