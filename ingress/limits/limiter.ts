import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { KeyWindow, Points } from '../../shared/db/stores/rate-limits.ts';
import { AppError } from '../../shared/errors/app-error.ts';

/** `points` per `windowS` seconds for each key. `name` appears in headers and in the store's keys. */
export interface Limit {
  name: string;
  points: number;
  windowS: number;
}

export interface Verdict {
  allowed: boolean;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetS: number;
}

/**
 * Counts one limit exactly, across all ingresses. Never throws: counts for this ingress alone while the store is
 * down.
 */
export interface Limiter {
  readonly limit: Limit;
  /** Takes points (1 by default), even when it refuses the call. */
  take(key: string, points?: number): Promise<Verdict>;
  /** Gives back points (1 by default), in the window in which this ingress last took points of the key. */
  refund(key: string, points?: number): Promise<void>;
}

export async function takeOrRefuse(limiter: Limiter, key: string): Promise<void> {
  const { allowed, resetS } = await limiter.take(key);
  if (!allowed) throw new AppError('rate_limited', { retryAfterS: resetS });
}

/**
 * Counts one limit across all ingresses, each of which may take some points before the store has counted them. Never
 * throws: while the store is down, counts for this ingress alone.
 */
export interface LeasedLimiter {
  readonly limit: Limit;
  /** Takes points (1 by default). If too few are left, refuses the call, and takes the rest of the points. */
  take(key: string, points?: number): Promise<Verdict>;
  /** Returns the refusal that a call would get, as far as this ingress knows. Takes no point. */
  refusal(key: string): Verdict | undefined;
}

export interface LimiterFactory {
  open(limit: Limit): Limiter;
  lease(limit: Limit): LeasedLimiter;
  close(): Promise<void>;
}

/** Counts points in the store or, while the store is down, in this process. Never throws. */
export type CountPoints = (points: Points) => Promise<KeyWindow>;

/** Returns the store's key. Hashes the part that may be a person's e-mail or network address. */
export function storeKeyOf({ name }: Limit, key: string): string {
  return `${name}:${hash('sha256', key, 'base64url')}`;
}

export function createVerdict(allowed: boolean, remaining: number, leftMs: number): Verdict {
  return { allowed, remaining: Math.max(0, remaining), resetS: Math.max(1, Math.ceil(leftMs / 1000)) };
}

const WINDOWS_MAX = 10_000;

/** Asks the store at every call. Meant for small limits, and for limits that protect a secret. */
export class ExactLimiter implements Limiter {
  readonly limit: Limit;
  readonly #count: CountPoints;
  /** Id of the window in which points of each key were last taken. A refund applies only to that window. */
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

  /** Gives points back only in their own window. In the next window, they would make the count negative. */
  async refund(name: string, points = 1): Promise<void> {
    const key = storeKeyOf(this.limit, name);
    const window = this.#windows.get(key);
    if (window === undefined) return;
    await this.#count({ key, points: -points, windowMs: this.limit.windowS * 1000, window });
  }
}
