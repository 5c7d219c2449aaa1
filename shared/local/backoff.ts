const DELAYS_MS = [0, 500, 1000, 2000, 5000];
/** A process that lived this long has recovered: its next end counts as the first one. */
const RECOVERED_AFTER_MS = 60_000;

/** How long to wait before a process that ended is started again: not at all at first, then longer each time. */
export class Backoff {
  #restarts = 0;

  /** `livedMs` is 0 for a process that did not come up. */
  next(livedMs: number): number {
    if (livedMs > RECOVERED_AFTER_MS) this.#restarts = 0;
    const delayMs = DELAYS_MS[Math.min(this.#restarts, DELAYS_MS.length - 1)] ?? 0;
    this.#restarts += 1;
    return delayMs;
  }
}

/** For a person: when something starts again. */
export function whenAfter(delayMs: number): string {
  return delayMs === 0 ? 'at once' : `in ${delayMs / 1000} s`;
}
