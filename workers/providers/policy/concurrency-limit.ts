import { ProviderError } from '../provider.ts';

interface Waiting {
  enter(): void;
}

/**
 * This process's share of how many calls the provider takes at once, in the order of arrival. All workers have equal
 * shares, of one call at least.
 */
export class ConcurrencyLimit {
  readonly #limit: number;
  #share: number;
  #running = 0;
  readonly #line = new Set<Waiting>();

  /** `limit` is over all workers. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#share = limit;
  }

  /** How many workers share the limit. */
  divide(workers: number): void {
    this.#share = Math.max(1, Math.floor(this.#limit / Math.max(1, workers)));
    this.#next();
  }

  /** Waits for a free place, until the moment `until` of `performance.now()`; returns what frees it again. */
  async acquire(signal: AbortSignal, until: number): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { enter: resolve };
    const leave = (error: unknown) => {
      if (this.#line.delete(waiting)) reject(error);
    };
    const gone = () => leave(signal.reason);
    const late = () => leave(new ProviderError('timeout', 'not called: no free place'));
    const timer = setTimeout(late, Math.max(0, until - performance.now()));
    signal.addEventListener('abort', gone);
    this.#line.add(waiting);
    this.#next();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    }
    return () => {
      this.#running -= 1;
      this.#next();
    };
  }

  #next(): void {
    for (const waiting of this.#line) {
      if (this.#running >= this.#share) return;
      this.#line.delete(waiting);
      this.#running += 1;
      waiting.enter();
    }
  }
}
