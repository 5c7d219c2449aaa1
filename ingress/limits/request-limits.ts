import type { IngressConfig } from '../../shared/config/config.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { networkOf } from '../middleware/address.ts';
import type { RequestContext } from '../middleware/request-context.ts';
import type { Limit, Limits } from './limiter.ts';

/** Counts a request, tells the caller by headers what is left, and throws 429 `rate_limited` when nothing was. */
export type CountRequest = (ctx: RequestContext) => Promise<void>;

/**
 * Counts each request for its app, its user, or where no credential says who asks for the network that it came from.
 * Counts nothing where the configuration sets no limit.
 */
export function requestLimits(config: IngressConfig['rateLimit'], limits: Limits): CountRequest {
  if (config === undefined) return async () => {};
  const open = (name: string) => limits.open({ name, ...windowOf(config), final: true });
  const [app, user, address] = [open('app'), open('user'), open('address')];

  return async (ctx) => {
    const { appId, accountId } = ctx.state;
    const [limiter, key] =
      appId !== undefined
        ? [app, appId]
        : accountId !== undefined
          ? [user, accountId]
          : [address, networkOf(ctx.state.address)];
    const { allowed, remaining, resetS } = await limiter.take(key);
    const { name, points, windowS } = limiter.limit;
    ctx.set('RateLimit-Policy', `"${name}";q=${points};w=${windowS}`);
    ctx.set('RateLimit', `"${name}";r=${remaining};t=${resetS}`);
    if (!allowed) throw new AppError('rate_limited', { retryAfterS: resetS });
  };
}

/**
 * The shortest window of whole seconds whose requests, at `rps` a second, are at least `burst`. All of them may come at
 * once; more than `rps` on average never do. A burst that is smaller than a second's requests counts as these.
 */
function windowOf({ rps, burst }: { rps: number; burst: number }): Pick<Limit, 'points' | 'windowS'> {
  const windowS = Math.ceil(burst / rps);
  return { points: rps * windowS, windowS };
}
