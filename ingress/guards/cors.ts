import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { RequestState } from '../http/request-context.ts';

/** Time for which a browser may cache a preflight's answer. */
const MAX_AGE_S = 600;

/**
 * Lets pages of these origins use `/api`. Cookies are no credential there, so none are allowed. Nothing changes for
 * other origins: their preflights get 405 like any OPTIONS.
 */
export function apiCors(origins: readonly string[]): Middleware<RequestState> {
  const allowed = new Set(origins);
  return cors({
    origin: (ctx) => (allowed.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'Authorization',
      'Content-Type',
      'X-Service-API-Key',
      'Idempotency-Key',
      'Prefer',
      'X-Request-Id',
      'Accept',
      'Last-Event-ID',
    ],
    exposeHeaders: [
      'X-Request-Id',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'Link',
      'Idempotency-Replayed',
      'Server-Timing',
      'X-Error-Source',
      'WWW-Authenticate',
    ],
    maxAge: MAX_AGE_S,
    // `errors` keeps the headers that are set already.
    keepHeadersOnError: false,
  });
}
