import { LRUCache } from 'lru-cache';
import { keyOf } from './key.ts';
import type { CountPoints, Limit, Limiter, Verdict } from './limiter.ts';
import { verdict } from './verdict.ts';

const WINDOWS_MAX = 10_000;

/** Asks the store about every point: for limits that are small, or that guard a secret. */
export class ExactLimiter implements Limiter {
  readonly limit: Limit;
  readonly #count: CountPoints;
  /** The window from which each key last took. */
  readonly #windows = new LRUCache<string, number>({ max: WINDOWS_MAX });

  constructor(limit: Limit, count: CountPoints) {
    this.limit = limit;
    this.#count = count;
  }

  async take(name: string, points = 1): Promise<Verdict> {
    const key = keyOf(this.limit, name);
    const counted = await this.#count({ key, points, windowMs: this.limit.windowS * 1000 });
    this.#windows.set(key, counted.window);
    return verdict(counted.points <= this.limit.points, this.limit.points - counted.points, counted.leftMs);
  }

  /** Names the window: points given back after it would open the next one below zero. */
  async refund(name: string, points = 1): Promise<void> {
    const key = keyOf(this.limit, name);
    const window = this.#windows.get(key);
    if (window === undefined) return;
    await this.#count({ key, points: -points, windowMs: this.limit.windowS * 1000, window });
  }
}
