import { LRUCache } from 'lru-cache';
import type { Count, Points } from '../../shared/db/stores/rate-limits.ts';

const KEYS_MAX = 100_000;

/**
 * Counts points in this process's memory, as the stores do in theirs. Windows end by a clock of its own, so that none is
 * ever named like one of theirs.
 */
export class MemoryCounts {
  readonly #windows = new LRUCache<string, { points: number; end: number }>({ max: KEYS_MAX });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  count({ key, points, windowMs, window }: Points): Count {
    const now = this.#now();
    const known = this.#windows.get(key);
    let current = known && known.end > now ? known : undefined;
    if (window !== undefined && window !== current?.end)
      return { points: current?.points ?? 0, leftMs: (current?.end ?? now) - now, window: current?.end ?? 0 };
    current = { points: (current?.points ?? 0) + points, end: current?.end ?? Math.floor(now + windowMs) };
    this.#windows.set(key, current);
    return { points: current.points, leftMs: current.end - now, window: current.end };
  }
}
