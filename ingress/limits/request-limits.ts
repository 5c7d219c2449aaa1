import type { IngressConfig } from '../../shared/config/config.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { networkOf } from '../request/address.ts';
import type { Limit, LimiterFactory } from './limiter.ts';

interface CountedRequest {
  readonly state: { appId?: string; accountId?: string; address: string };
  set(header: string, value: string): void;
}

/**
 * Takes one point for a request, or `extraPoints` for its body (at most one less than a window has) less `paidPoints`. Sets the
 * rate-limit headers. Throws `rate_limited` when too few points are left.
 */
export type CountRequest = (ctx: CountedRequest, extraPoints?: number, paidPoints?: number) => Promise<void>;

/** Counts a request against its app or account. A request without a credential counts against the client's network. */
export function requestLimits(config: IngressConfig['rateLimit'], limits: LimiterFactory): CountRequest {
  if (config === undefined) return async () => {};
  const open = (name: string) => limits.openBuffered({ name, ...windowOf(config) });
  const [app, user, address] = [open('app'), open('user'), open('address')];

  return async (ctx, extraPoints, paidPoints = 0) => {
    const { appId, accountId } = ctx.state;
    const [limiter, key] =
      appId !== undefined
        ? [app, appId]
        : accountId !== undefined
          ? [user, accountId]
          : [address, networkOf(ctx.state.address)];
    const { name, points, windowS } = limiter.limit;
    const cost = extraPoints === undefined ? 1 : Math.min(extraPoints, points - 1) - paidPoints;
    if (cost <= 0) return;
    const { allowed, remaining, resetS } = await limiter.take(key, cost);
    ctx.set('RateLimit-Policy', `"${name}";q=${points};w=${windowS}`);
    ctx.set('RateLimit', `"${name}";r=${remaining};t=${resetS}`);
    if (!allowed) throw new AppError('rate_limited', { retryAfterS: resetS });
  };
}

/** Returns the shortest window of whole seconds in which `rps` allows at least `burst` requests. */
function windowOf({ rps, burst }: { rps: number; burst: number }): Pick<Limit, 'points' | 'windowS'> {
  const windowS = Math.ceil(burst / rps);
  return { points: rps * windowS, windowS };
}
