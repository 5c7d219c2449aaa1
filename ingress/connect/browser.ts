import { timingSafeEqual } from 'node:crypto';
import { koaBody } from 'koa-body';
import type { SigningKeys } from '../../shared/config/values.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB } from '../../shared/schemas/limits.ts';
import { deriveKey, fingerprint } from '../../shared/security/fingerprint.ts';
import { isToken, newToken } from '../../shared/security/keys.ts';
import type { Html } from '../pages/html.ts';
import { pagePolicy } from '../pages/layout.ts';
import type { RequestContext } from '../request/context.ts';

/**
 * A cookie that holds a token for the pages of `/connect`. Under https, the prefix `__Host-` keeps other hosts of the
 * domain and plain http from planting the cookie, and requires the path `/` (RFC 6265bis, 4.1.3.2).
 *
 * The default cookie identifies the browser, and after sign-in it is the session. It is renewed at each sign-in and
 * sign-out, against session fixation.
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

  read(ctx: RequestContext): string | undefined {
    const value = ctx.cookies.get(this.#name);
    return value !== undefined && isToken(value) ? value : undefined;
  }

  write(ctx: RequestContext, token = newToken().token): string {
    this.#set(ctx, token);
    return token;
  }

  remove(ctx: RequestContext): void {
    this.#set(ctx, null);
  }

  #set(ctx: RequestContext, token: string | null): void {
    // TLS may end at a proxy, so the public URL decides whether the cookie is secure, not this connection.
    ctx.cookies.secure = this.#secure;
    ctx.cookies.set(this.#name, token, { path: this.#path, httpOnly: true, sameSite: 'lax' });
  }
}

/** CSRF tokens: HMACs over a cookie's token and the form's subject (OWASP's signed double-submit cookie). */
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
   * Returns `cookie`. Throws `access_denied` for a form without the CSRF token of that cookie and subject. Accepts any
   * of the signing keys, because another ingress may sign with another key.
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

// Reads forms as text, because koa-body's own parser makes objects of names with dots and brackets.
const readText = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: [FORM_TYPE],
  textLimit: FORM_LIMIT,
});

/**
 * Throws `body_too_large`, or `invalid_content_type` for a body that is not a form. Refuses compressed forms, which no
 * browser sends: koa-body stops listening to the decompressing stream, and a later error of it would end the process.
 */
export async function readForm(ctx: RequestContext): Promise<URLSearchParams> {
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) throw new AppError('invalid_content_type');
  if (Number(ctx.get('Content-Length')) > FORM_LIMIT) throw new AppError('body_too_large');
  await readText(ctx, async () => {}).catch(refuse);
  const { body } = ctx.request;
  if (ctx.is(FORM_TYPE) === false) throw new AppError('invalid_content_type');
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

function refuse(error: { type?: unknown }): never {
  throw new AppError(error.type === 'entity.too.large' ? 'body_too_large' : 'invalid_content_type');
}

/**
 * Checks `Sec-Fetch-Site` as well as `Origin`, because browsers send `Origin: null` under the referrer policy
 * `no-referrer` (Fetch, "append a request Origin header"). Accepts old browsers, which send neither header.
 */
function isFromOwnPage(ctx: RequestContext, own: string): boolean {
  const site = ctx.get('Sec-Fetch-Site') || 'same-origin';
  const origin = ctx.get('Origin') || 'null';
  return ['same-origin', 'none'].includes(site) && ['null', own].includes(origin);
}

/** Does not set Cross-Origin-Opener-Policy, which would hide the window of these pages from the app that opened it. */
export function setPageHeaders(ctx: RequestContext): void {
  ctx.set({
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Content-Security-Policy': pagePolicy("'none'"),
  });
}

/**
 * Answers with a page. With `redirectUri`, its forms may also redirect there. Chromium checks every redirect after a
 * form against `form-action`, and an app may redirect to any host, so the policy allows whole schemes: https, also http
 * for an app on a loopback host, and a native program's own.
 */
export function sendPage(ctx: RequestContext, page: Html, redirectUri?: string): void {
  const [scheme] = redirectUri?.match(/^[a-z][a-z0-9+.-]*:/i) ?? [];
  const schemes = scheme === undefined ? '' : /^https:$/i.test(scheme) ? ' https:' : ` ${scheme} https:`;
  ctx.set('Content-Security-Policy', pagePolicy(`'self'${schemes}`));
  ctx.type = 'html';
  ctx.body = page.text;
}

/** Redirects with 303, so that the browser sends a GET. Koa's own `redirect` would normalise the app's redirect URI. */
export function seeOther(ctx: RequestContext, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = '';
}

/** Appends parameters to a redirect URI. Keeps the parameters that the URI already has (RFC 6749, 3.1.2). */
export function withParameters(redirectUri: string, parameters: Record<string, string>): string {
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${new URLSearchParams(parameters)}`;
}
