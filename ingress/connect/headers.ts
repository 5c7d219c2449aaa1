import type { RequestContext } from '../http/request-context.ts';
import { STYLE_SOURCE } from './style.ts';

/**
 * The headers of every page here; the common ones have set `Cache-Control: no-store` and `nosniff`. There is no
 * Cross-Origin-Opener-Policy: an app may open the flow in a window that it waits for, and would lose it.
 */
export function setPageHeaders(ctx: RequestContext): void {
  ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' });
  setPolicy(ctx, "'none'");
}

/**
 * Lets the page post its forms, and the answer redirect to the app. Chromium holds each redirect that follows a form
 * against `form-action`, the app's own further ones as well, and these may lead anywhere. So the sources are schemes:
 * https, and for an app on a loopback host http. (A host would not do for [::1] either: CSP has no IPv6 sources.)
 */
export function allowForms(ctx: RequestContext, redirectUri: string): void {
  const schemes = /^https:/i.test(redirectUri) ? 'https:' : 'http: https:';
  setPolicy(ctx, `'self' ${schemes}`);
}

function setPolicy(ctx: RequestContext, formAction: string): void {
  const directives = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  ctx.set('Content-Security-Policy', directives.join('; '));
}
