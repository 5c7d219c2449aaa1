import { ProviderError } from '../provider.ts';

interface Waiting {
  party: string;
  enter(): void;
}

/**
 * This process's share of how many calls the provider takes at once. Parties take turns, each in the order of its calls. All
 * workers have equal shares, of one call at least.
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
  async acquire(party: string, signal: AbortSignal, until: number): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { party, enter: resolve };
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
    while (this.#running < this.#share) {
      const [waiting] = this.#line;
      if (waiting === undefined) return;
      this.#line.delete(waiting);
      for (const other of [...this.#line]) if (other.party === waiting.party) this.#toTheEnd(other);
      this.#running += 1;
      waiting.enter();
    }
  }

  #toTheEnd(waiting: Waiting): void {
    this.#line.delete(waiting);
    this.#line.add(waiting);
  }
}
