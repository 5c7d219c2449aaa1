import { timingSafeEqual } from 'node:crypto';
import { koaBody } from 'koa-body';
import type { SigningKeys } from '../../shared/config/values.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB } from '../../shared/schemas/limits.ts';
import { deriveKey, fingerprint } from '../../shared/security/fingerprint.ts';
import { isToken, newToken } from '../../shared/security/keys.ts';
import type { RequestContext } from '../http/request-context.ts';
import { STYLE_SOURCE } from '../pages/layout.ts';

/**
 * A cookie of the pages of `/connect` that holds a token. By default it is the cookie that identifies the browser:
 * forms are bound to it, and after sign-in it is also the session. It is renewed whenever somebody signs in or out, so
 * that a planted cookie is worth nothing (session fixation), and it ends with the browser. Under https, the prefix of
 * its name keeps other hosts of the domain, and plain http, from planting such a cookie (RFC 6265bis, 4.1.3.2). The
 * prefix requires the path `/`, so all requests carry the cookie, but only these pages read it.
 */
export class TokenCookie {
  readonly #name: string;
  readonly #path: string;
  readonly #secure: boolean;

  constructor(publicUrl: string, { name = 'forecue', path = '/connect' } = {}) {
    const { protocol, pathname } = new URL(publicUrl);
    this.#secure = protocol === 'https:';
    this.#name = this.#secure ? `__Host-${name}` : name;
    this.#path = this.#secure ? '/' : `${pathname.replace(/\/$/, '')}${path}`;
  }

  /** Returns the token in the cookie, if there is one. */
  read(ctx: RequestContext): string | undefined {
    const value = ctx.cookies.get(this.#name);
    return value !== undefined && isToken(value) ? value : undefined;
  }

  /** Sets the cookie to the token, by default a new one, and returns the token. */
  write(ctx: RequestContext, token = newToken().token): string {
    // TLS may end at a proxy, so the public URL decides whether the cookie is secure, not this connection.
    ctx.cookies.secure = this.#secure;
    ctx.cookies.set(this.#name, token, { path: this.#path, httpOnly: true, sameSite: 'lax' });
    return token;
  }

  /** Removes the cookie from the browser. */
  remove(ctx: RequestContext): void {
    ctx.cookies.secure = this.#secure;
    ctx.cookies.set(this.#name, null, { path: this.#path, httpOnly: true, sameSite: 'lax' });
  }
}

/**
 * CSRF tokens, which prove that a form came from our own page. Each is an HMAC over the cookie's token and the subject
 * of the form (OWASP's signed double-submit cookie). The cookie changes at sign-in and sign-out, and the CSRF tokens
 * with it.
 */
export class FormTokens {
  readonly #signingKeys: SigningKeys;
  readonly #origin: string;

  constructor({ signingKeys, publicUrl }: { signingKeys: SigningKeys; publicUrl: string }) {
    this.#signingKeys = signingKeys;
    this.#origin = new URL(publicUrl).origin;
  }

  issue(cookie: string, subject: string): string {
    return sign(this.#signingKeys[0], cookie, subject).toString('base64url');
  }

  /**
   * Returns the cookie's token. Throws `access_denied` for a form that we did not issue for that cookie and subject.
   * Accepts a signature by any of the signing keys, because another ingress may sign with another key.
   */
  check(ctx: RequestContext, form: URLSearchParams, cookie: string | undefined, subject: string): string {
    const given = Buffer.from(form.get('csrf') ?? '', 'base64url');
    const isSigned = (expected: Buffer) =>
      given.length === expected.length && timingSafeEqual(given, expected);
    const isOurs =
      cookie !== undefined &&
      isFromOwnPage(ctx, this.#origin) &&
      this.#signingKeys.some((key) => isSigned(sign(key, cookie, subject)));
    if (!isOurs) throw new AppError('access_denied');
    return cookie;
  }
}

function sign({ secret }: SigningKeys[number], cookie: string, subject: string): Buffer {
  return fingerprint(deriveKey(secret, 'forecue consent page csrf'), `${cookie}.${subject}`);
}

const FORM_TYPE = 'application/x-www-form-urlencoded';
const FORM_LIMIT = 16 * KIB;

// Reads forms as text, because koa-body's own parser makes objects out of names with dots and brackets.
const readText = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: [FORM_TYPE],
  textLimit: FORM_LIMIT,
});

/**
 * Reads the fields of a posted form. Throws `body_too_large`, or `invalid_content_type` for a body that is not a form.
 *
 * Refuses compressed forms, which no browser sends: koa-body would leave the decompressing stream without a listener
 * once it has read enough, and an error after that would end the process.
 */
export async function readForm(ctx: RequestContext): Promise<URLSearchParams> {
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) throw new AppError('invalid_content_type');
  if (Number(ctx.get('Content-Length')) > FORM_LIMIT) throw new AppError('body_too_large');
  await readText(ctx, async () => {}).catch(refuse);
  const { body } = ctx.request;
  if (ctx.is(FORM_TYPE) === false) throw new AppError('invalid_content_type');
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

/** Converts an error of koa-body: whatever fails while a form is read is the client's fault. */
function refuse(error: { type?: unknown }): never {
  throw new AppError(error.type === 'entity.too.large' ? 'body_too_large' : 'invalid_content_type');
}

/**
 * Checks whether a page of our own origin (`own`) may have sent the form. `Origin` alone does not show that: under our
 * referrer policy browsers send `null` in it (Fetch, "append a request Origin header"), and old browsers do not send
 * it.
 */
function isFromOwnPage(ctx: RequestContext, own: string): boolean {
  const site = ctx.get('Sec-Fetch-Site') || 'same-origin';
  const origin = ctx.get('Origin') || 'null';
  return ['same-origin', 'none'].includes(site) && ['null', own].includes(origin);
}

/**
 * Sets the headers of every page of `/connect`; `requestContext` has set `Cache-Control: no-store` and `nosniff`.
 * Leaves out Cross-Origin-Opener-Policy, because an app may open the flow in a window, which it would then lose track
 * of.
 */
export function setPageHeaders(ctx: RequestContext): void {
  ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' });
  setPolicy(ctx, "'none'");
}

/**
 * Lets the page post its forms, and lets the answer redirect to the app's `redirectUri`, if it is given. Chromium
 * checks every redirect that follows a form against `form-action`, also the app's own further redirects, which may lead
 * anywhere. So the sources are schemes: https, and for an app on a loopback host also http. (CSP has no IPv6 sources
 * for [::1] anyway.)
 */
export function allowForms(ctx: RequestContext, redirectUri?: string): void {
  const schemes = redirectUri === undefined ? '' : /^https:/i.test(redirectUri) ? ' https:' : ' http: https:';
  setPolicy(ctx, `'self'${schemes}`);
}

function setPolicy(ctx: RequestContext, formAction: string): void {
  const directives = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    "img-src 'self'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  ctx.set('Content-Security-Policy', directives.join('; '));
}

/**
 * Redirects the browser with a GET. Koa's own `redirect` would rewrite the address, which has to stay as the app knows
 * it, character for character.
 */
export function seeOther(ctx: RequestContext, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = '';
}

/** Appends the answer's parameters to the app's redirect URI, and keeps the URI's own parameters (RFC 6749, 3.1.2). */
export function withParameters(redirectUri: string, parameters: Record<string, string>): string {
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${new URLSearchParams(parameters)}`;
}
