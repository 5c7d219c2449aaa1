import type { Log } from '../../shared/log.ts';

const LEFT_ALONE_MS = 1000;

/**
 * The way to the limiters' store. After a failure nobody asks it for a second; then one request finds out whether it
 * is back, and the others still count here.
 */
export class StoreAccess {
  readonly #log: Log;
  #isAway = false;
  #askAgainAt = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** What the store says; where it is away or fails, what is said without it. */
  async ask<T>(shared: () => Promise<T>, local: () => Promise<T>): Promise<T> {
    if (performance.now() < this.#askAgainAt) return local();
    const isProbe = this.#isAway;
    if (isProbe) this.#leaveAlone();
    try {
      const answer = await shared();
      if (isProbe) this.#back();
      return answer;
    } catch (error) {
      this.#lost(error);
      return local();
    }
  }

  #leaveAlone(): void {
    this.#askAgainAt = performance.now() + LEFT_ALONE_MS;
  }

  #lost(error: unknown): void {
    this.#leaveAlone();
    if (this.#isAway) return;
    this.#isAway = true;
    this.#log.warn({ err: error }, 'store of the rate limits out of reach: each ingress counts for itself');
  }

  #back(): void {
    this.#isAway = false;
    this.#askAgainAt = 0;
    this.#log.info('store of the rate limits is back');
  }
}
