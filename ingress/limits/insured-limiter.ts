import { hash } from 'node:crypto';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRes,
  type RateLimiterStoreAbstract,
  RLWrapperTimeouts,
} from 'rate-limiter-flexible';
import type { Limit, Limiter, Verdict } from './limiter.ts';
import type { StoreAccess } from './store-access.ts';

/** A store that takes longer would cost a caller more than the limit is worth. */
export const STORE_TIMEOUT_MS = 250;

/** Counts in the shared store; while that is away it counts here, by the same limit. */
export class InsuredLimiter implements Limiter {
  readonly limit: Limit;
  readonly #shared: RateLimiterAbstract;
  readonly #local: RateLimiterAbstract;
  readonly #store: StoreAccess;

  constructor(limit: Limit, shared: RateLimiterStoreAbstract, store: StoreAccess) {
    this.limit = limit;
    this.#shared = new RLWrapperTimeouts({ limiter: shared, timeoutMs: STORE_TIMEOUT_MS });
    this.#local = new RateLimiterMemory({ points: limit.points, duration: limit.windowS });
    this.#store = store;
  }

  take(key: string): Promise<Verdict> {
    const name = anonymous(key);
    return this.#store.ask(
      () => take(this.#shared, name),
      () => take(this.#local, name),
    );
  }

  async giveBack(key: string): Promise<void> {
    const name = anonymous(key);
    await this.#store.ask(
      () => this.#shared.reward(name),
      () => this.#local.reward(name),
    );
  }
}

/** Keys may be e-mails and addresses of people, which no store of counters needs to know. */
function anonymous(key: string): string {
  return hash('sha256', key, 'base64url');
}

async function take(limiter: RateLimiterAbstract, key: string): Promise<Verdict> {
  try {
    return verdict(true, await limiter.consume(key));
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return verdict(false, refusal);
    throw refusal;
  }
}

/** A window's last moment is a second as well, so that nobody comes back too early. */
function verdict(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Verdict {
  return { allowed, remaining: remainingPoints, resetS: Math.max(1, Math.ceil(msBeforeNext / 1000)) };
}
