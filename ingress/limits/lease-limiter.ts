import { LRUCache } from 'lru-cache';
import { keyOf } from './key.ts';
import { Lease, type LeaseTerms } from './lease.ts';
import type { CountPoints, LeasedLimiter, Limit, Verdict } from './limiter.ts';

/** The share of each ingress: limits below 25 points are exact. */
const SHARE = 0.04;
const REPORT_EVERY_MS = 50;
const LEASES_MAX = 10_000;

/** Keeps a lease for each key, and reports all of them together. */
export class LeaseLimiter implements LeasedLimiter {
  readonly limit: Limit;
  readonly #terms: LeaseTerms;
  readonly #leases = new LRUCache<string, Lease>({ max: LEASES_MAX });
  readonly #unreported = new Set<Lease>();

  constructor(limit: Limit, count: CountPoints) {
    this.limit = limit;
    const share = Math.floor(limit.points * SHARE);
    this.#terms = { limit, share, count, now: () => performance.now(), later: (lease) => this.#later(lease) };
  }

  async take(key: string, points = 1): Promise<Verdict> {
    let lease = this.#leases.get(key);
    if (lease === undefined) {
      lease = new Lease(keyOf(this.limit, key), this.#terms);
      this.#leases.set(key, lease);
    }
    return lease.take(points);
  }

  refusal(key: string): Verdict | undefined {
    return this.#leases.get(key)?.refusal();
  }

  #later(lease: Lease): void {
    if (this.#unreported.size === 0) setTimeout(() => this.#report(), REPORT_EVERY_MS).unref();
    this.#unreported.add(lease);
  }

  #report(): void {
    const leases = [...this.#unreported];
    this.#unreported.clear();
    for (const lease of leases) void lease.report();
  }
}
