const DELAYS_MS = [0, 500, 1000, 2000, 5000];
/** A process that ran for this long has recovered: the delays start over. */
const RECOVERED_AFTER_MS = 60_000;

/** Backoff between restarts: none the first time, then longer each time. */
export class Backoff {
  #restarts = 0;

  /** The delay before the next restart; `livedMs` is 0 for a process that never came up. */
  next(livedMs: number): number {
    if (livedMs > RECOVERED_AFTER_MS) this.#restarts = 0;
    const delayMs = DELAYS_MS[Math.min(this.#restarts, DELAYS_MS.length - 1)] ?? 0;
    this.#restarts += 1;
    return delayMs;
  }
}

/** When a restart happens, as text for the terminal. */
export function whenAfter(delayMs: number): string {
  return delayMs === 0 ? 'at once' : `in ${delayMs / 1000} s`;
}
