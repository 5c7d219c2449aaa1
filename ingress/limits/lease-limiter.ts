import { LRUCache } from 'lru-cache';
import type { KeyWindow } from '../../shared/db/stores/rate-limits.ts';
import {
  type CountPoints,
  createVerdict,
  type LeasedLimiter,
  type Limit,
  storeKeyOf,
  type Verdict,
} from './limiter.ts';

/** Fraction of a limit that one ingress may grant before the store counts it. Rounds down to 0 below 25 points. */
const INGRESS_SHARE = 0.04;
const REPORT_EVERY_MS = 50;
const LEASES_MAX = 10_000;

export class LeaseLimiter implements LeasedLimiter {
  readonly limit: Limit;
  readonly #options: LeaseOptions;
  readonly #leases = new LRUCache<string, Lease>({ max: LEASES_MAX });
  readonly #unreportedLeases = new Set<Lease>();

  constructor(limit: Limit, count: CountPoints) {
    this.limit = limit;
    const share = Math.floor(limit.points * INGRESS_SHARE);
    this.#options = {
      limit,
      share,
      count,
      now: () => performance.now(),
      reportLater: (lease) => this.#reportLater(lease),
    };
  }

  async take(key: string, points = 1): Promise<Verdict> {
    let lease = this.#leases.get(key);
    if (lease === undefined) {
      lease = new Lease(storeKeyOf(this.limit, key), this.#options);
      this.#leases.set(key, lease);
    }
    return lease.take(points);
  }

  refusal(key: string): Verdict | undefined {
    return this.#leases.get(key)?.refusal();
  }

  #reportLater(lease: Lease): void {
    if (this.#unreportedLeases.size === 0) setTimeout(() => this.#report(), REPORT_EVERY_MS).unref();
    this.#unreportedLeases.add(lease);
  }

  #report(): void {
    const leases = [...this.#unreportedLeases];
    this.#unreportedLeases.clear();
    for (const lease of leases) void lease.report();
  }
}

interface LeaseOptions {
  limit: Limit;
  /** Points that an ingress may grant before the store has counted them. */
  share: number;
  count: CountPoints;
  now(): number;
  reportLater(lease: Lease): void;
}

/** Window of a key in the store, as far as this ingress knows. */
interface Window {
  id: number;
  /** Points that the store had counted at its latest answer. */
  counted: number;
  /** Earliest and latest possible end of the window. They differ by the time that the store took to answer. */
  runsUntil: number;
  overAt: number;
}

interface WaitingCall {
  points: number;
  settle(verdict: Verdict): void;
}

/**
 * Counts the points of one key at this ingress. In a known window, refuses a call at once if too few points are left,
 * and grants a call at once if that leaves at most `share` granted points that the store has not counted. All other
 * calls wait until the store has counted their points; one report carries those of many calls. In one window, a single
 * ingress grants at most `limit` points; several ingresses together grant at most `limit` points and one `share` each.
 */
export class Lease {
  readonly #key: string;
  readonly #options: LeaseOptions;
  #window: Window | undefined;
  #pointsInFlight = 0;
  #unreportedPoints = 0;
  #waiting: WaitingCall[] = [];
  /** Points of all waiting calls, including the calls that the store is counting at present. */
  #pendingPoints = 0;
  #reporting = false;

  constructor(key: string, options: LeaseOptions) {
    this.#key = key;
    this.#options = options;
  }

  take(points: number): Verdict | Promise<Verdict> {
    const window = this.#currentWindow();
    if (window === undefined) return this.#askStore(points);
    const left = this.#pointsLeft(window);
    const allowed = points <= left;
    if (allowed && !this.#fits(window, points)) return this.#askStore(points);
    // A refused call takes the points that are left.
    this.#takePoints(allowed ? points : left);
    return this.#verdict(window, allowed);
  }

  /** Returns the refusal that a call would get, if the window is known to be used up. */
  refusal(): Verdict | undefined {
    const window = this.#currentWindow();
    return window && this.#pointsLeft(window) <= 0 ? this.#verdict(window, false) : undefined;
  }

  /** Sends granted points and the points of waiting calls to the store to be counted. One report runs at a time. */
  async report(): Promise<void> {
    if (this.#reporting) return;
    this.#reporting = true;
    do await this.#exchange();
    while (this.#isDue());
    this.#reporting = false;
    if (this.#unreportedPoints > 0) this.#options.reportLater(this);
  }

  #fits(window: Window, points: number): boolean {
    const isAhead = this.#pointsInFlight + this.#unreportedPoints + points > this.#options.share;
    return !isAhead && this.#pendingPoints + points <= this.#pointsLeft(window);
  }

  #takePoints(points: number): void {
    if (points <= 0) return;
    this.#unreportedPoints += points;
    if (this.#isDue()) void this.report();
    else this.#options.reportLater(this);
  }

  #askStore(points: number): Promise<Verdict> {
    this.#pendingPoints += points;
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    this.#waiting.push({ points, settle: resolve });
    void this.report();
    return promise;
  }

  /** Checks whether to report at once: calls wait, or half of the share is used. */
  #isDue(): boolean {
    return this.#waiting.length > 0 || 2 * this.#unreportedPoints > this.#options.share;
  }

  async #exchange(): Promise<void> {
    const { limit, count, now } = this.#options;
    const window = this.#currentWindow()?.id;
    const waiting = this.#waiting;
    const grantedPoints = this.#unreportedPoints;
    if (waiting.length === 0 && grantedPoints === 0) return;
    const points = waiting.reduce((sum, one) => sum + one.points, grantedPoints);
    this.#waiting = [];
    this.#unreportedPoints = 0;
    this.#pointsInFlight = grantedPoints;
    const sentAt = now();
    const counted = await count({ key: this.#key, points, windowMs: limit.windowS * 1000, window });
    this.#pointsInFlight = 0;
    this.#setWindow(counted, sentAt);
    if (window === undefined || window === counted.window) {
      this.#settle(waiting, counted.points - points + grantedPoints);
    } else {
      // The window in which these points were granted is over, so the waiting calls are counted again.
      this.#unreportedPoints = 0;
      this.#waiting.unshift(...waiting);
    }
  }

  #setWindow({ points, leftMs, window }: KeyWindow, sentAt: number): void {
    const overAt = this.#options.now() + leftMs;
    this.#window =
      leftMs > 0 ? { id: window, counted: points, runsUntil: sentAt + leftMs, overAt } : undefined;
  }

  /** Answers the waiting calls in order. `before` is the number of points that the store had counted before them. */
  #settle(waiting: readonly WaitingCall[], before: number): void {
    const { limit, now } = this.#options;
    const { overAt = now() } = this.#window ?? {};
    let usedPoints = before;
    for (const { points, settle } of waiting) {
      usedPoints += points;
      this.#pendingPoints -= points;
      settle(createVerdict(usedPoints <= limit.points, limit.points - usedPoints, overAt - now()));
    }
  }

  /** Returns the known window. If it may be over, forgets it and the points not yet reported, and returns undefined. */
  #currentWindow(): Window | undefined {
    if (this.#window !== undefined && this.#window.runsUntil <= this.#options.now()) {
      this.#window = undefined;
      this.#unreportedPoints = 0;
    }
    return this.#window;
  }

  #pointsLeft({ counted }: Window): number {
    return this.#options.limit.points - counted - this.#pointsInFlight - this.#unreportedPoints;
  }

  #verdict(window: Window, allowed: boolean): Verdict {
    return createVerdict(allowed, this.#pointsLeft(window), window.overAt - this.#options.now());
  }
}
