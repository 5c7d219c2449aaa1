import type { Next } from 'koa';
import { AppError } from '../../shared/errors/app-error.ts';
import type { RequestContext } from '../http/request-context.ts';

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const MAX_AGE_S = 600;
const CORS = {
  'Access-Control-Allow-Methods': 'POST, DELETE',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, X-Service-API-Key, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID',
  'Access-Control-Max-Age': String(MAX_AGE_S),
};

/**
 * Refuses pages of other origins with 403, so that none reaches a tool server on the machine of its visitor by a name that leads
 * there (DNS rebinding). Programs send no `Origin`. Pages on this machine are allowed outside production.
 */
export function checkOrigin(origins: readonly string[], { loopback }: { loopback: boolean }) {
  const allowed = new Set(origins);
  return async (ctx: RequestContext, next: Next): Promise<void> => {
    const origin = ctx.get('Origin');
    if (origin === '') return next();
    if (!allowed.has(origin) && !(loopback && LOOPBACK.test(origin)))
      throw new AppError('access_denied', {
        explanation: 'Pages of this origin may not use the tool server.',
      });
    ctx.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': 'Mcp-Session-Id, WWW-Authenticate, X-Request-Id, Retry-After',
      Vary: 'Origin',
    });
    if (ctx.method !== 'OPTIONS') return next();
    ctx.set(CORS);
    ctx.status = 204;
  };
}
