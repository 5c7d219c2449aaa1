import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { KeyWindow, Points } from '../../shared/db/stores/rate-limits.ts';
import { AppError } from '../../shared/errors/app-error.ts';

/** A rate limit: `points` per `windowS` seconds for each key. `name` appears in headers and in the store's keys. */
export interface Limit {
  name: string;
  points: number;
  windowS: number;
}

/** A limiter's decision about one request, as the headers of the answer report it. */
export interface Verdict {
  allowed: boolean;
  remaining: number;
  /** Whole seconds until the window ends, rounded up, so that nobody retries too early; at least 1. */
  resetS: number;
}

/**
 * Counts one limit exactly, across all ingresses: every call asks the store. Never throws: while the store is down it
 * counts for this ingress alone.
 */
export interface Limiter {
  readonly limit: Limit;
  /** Takes points (1 by default), which count even when the call is refused. */
  take(key: string, points?: number): Promise<Verdict>;
  /**
   * Gives points (1 by default) back to the window from which this ingress last took points of the key; if it has taken
   * none, does nothing.
   */
  refund(key: string, points?: number): Promise<void>;
}

/** Takes a point. Throws `rate_limited` when none is left. */
export async function takeOrRefuse(limiter: Limiter, key: string): Promise<void> {
  const { allowed, resetS } = await limiter.take(key);
  if (!allowed) throw new AppError('rate_limited', { retryAfterS: resetS });
}

/**
 * Counts one limit across all ingresses. Each ingress may take points before the store has counted them, up to its
 * share. Never throws: while the store is down it counts for this ingress alone.
 */
export interface LeasedLimiter {
  readonly limit: Limit;
  /** Takes points (1 by default). If fewer are left in the window, refuses the call, and takes those that are left. */
  take(key: string, points?: number): Promise<Verdict>;
  /**
   * Returns the refusal that a call would get, as far as this ingress knows. Takes no point, and does not ask the
   * store.
   */
  refusal(key: string): Verdict | undefined;
}

/** Opens limiters on the shared store. */
export interface LimiterFactory {
  open(limit: Limit): Limiter;
  lease(limit: Limit): LeasedLimiter;
  close(): Promise<void>;
}

/** Counts points in the store, or, while the store is down, in this process. Never throws. */
export type CountPoints = (points: Points) => Promise<KeyWindow>;

/** Returns the store's name for a key: a hash, because the key may be a person's e-mail or network address. */
export function storeKeyOf({ name }: Limit, key: string): string {
  return `${name}:${hash('sha256', key, 'base64url')}`;
}

/** Creates a verdict: the remaining points are never negative, and the seconds are whole. */
export function createVerdict(allowed: boolean, remaining: number, leftMs: number): Verdict {
  return { allowed, remaining: Math.max(0, remaining), resetS: Math.max(1, Math.ceil(leftMs / 1000)) };
}

const WINDOWS_MAX = 10_000;

/** Asks the store at every call. For limits that are small, or that guard a secret. */
export class ExactLimiter implements Limiter {
  readonly limit: Limit;
  readonly #count: CountPoints;
  /** The window from which each key last took points. */
  readonly #windows = new LRUCache<string, number>({ max: WINDOWS_MAX });

  constructor(limit: Limit, count: CountPoints) {
    this.limit = limit;
    this.#count = count;
  }

  async take(name: string, points = 1): Promise<Verdict> {
    const key = storeKeyOf(this.limit, name);
    const counted = await this.#count({ key, points, windowMs: this.limit.windowS * 1000 });
    this.#windows.set(key, counted.window);
    return createVerdict(
      counted.points <= this.limit.points,
      this.limit.points - counted.points,
      counted.leftMs,
    );
  }

  /**
   * Names the window to the store. Otherwise, points given back after the window's end would make the next window start
   * below zero.
   */
  async refund(name: string, points = 1): Promise<void> {
    const key = storeKeyOf(this.limit, name);
    const window = this.#windows.get(key);
    if (window === undefined) return;
    await this.#count({ key, points: -points, windowMs: this.limit.windowS * 1000, window });
  }
}
