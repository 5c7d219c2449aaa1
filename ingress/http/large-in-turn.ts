import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Next } from 'koa';
import { ConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import { networkOf } from '../limits/network.ts';
import { UNCOUNTED } from './body-budget.ts';
import type { RequestState } from './request-context.ts';

interface Announced {
  readonly headers: IncomingHttpHeaders;
  readonly state: Pick<RequestState, 'address' | 'signal'>;
}

/**
 * Begins requests with large bodies one in each turn of the event loop, networks in turn: hundreds that arrive together
 * would make single turns of a tenth of a second, and everybody's calls late.
 */
export function largeInTurn(): (ctx: Announced, next: Next) => Promise<void> {
  const beginning = new ConcurrencyLimiter({ atOnce: 1 });
  return async ({ headers, state: { address, signal: gone } }, next) => {
    if (isLarge(headers)) await beginning.run(() => nextTurn(), { party: networkOf(address), gone });
    await next();
  };
}

/** One of unknown size may be. */
function isLarge(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > UNCOUNTED;
}
