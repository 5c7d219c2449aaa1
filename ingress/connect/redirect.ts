import type { RequestContext } from '../http/request-context.ts';

/**
 * Sends the browser there with a GET. Koa's own `redirect` would rewrite the address, which the app knows
 * character for character.
 */
export function seeOther(ctx: RequestContext, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = '';
}

/** The app's redirect URI with the answer's parameters behind its own, which stay as they are (RFC 6749, 3.1.2). */
export function withParameters(redirectUri: string, parameters: Record<string, string>): string {
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${new URLSearchParams(parameters)}`;
}
