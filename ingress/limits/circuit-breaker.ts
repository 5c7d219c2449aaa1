export interface CircuitBreakerOptions {
  /** Time that the circuit stays open before one call probes the dependency. */
  openMs: number;
  /** Called with the first failure, not again for a probe that fails. */
  onOpen(error: unknown): void;
  /** Called when a probe has succeeded. */
  onClose(): void;
}

/**
 * A circuit breaker in front of a dependency that may be down. The first failure opens it: nobody calls the dependency
 * for `openMs`, then a single call probes it. Whoever may not call gets the fallback at once, also while a probe is
 * under way. A dependency that may hang needs a timeout of its own.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  /** When the next call may probe, by `performance.now()`; undefined while the circuit is closed. */
  #probeAt: number | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Resolves with what `work` does; with the fallback's result if it fails or may not be tried. */
  async run<T>(work: () => Promise<T>, fallback: () => Promise<T>): Promise<T> {
    const isProbe = this.#probeAt !== undefined;
    if (this.#probeAt !== undefined) {
      if (performance.now() < this.#probeAt) return fallback();
      this.#probeAt = Number.POSITIVE_INFINITY;
    }
    try {
      const result = await work();
      if (isProbe) this.#close();
      return result;
    } catch (error) {
      // A call from before the circuit opened says nothing about the probe.
      if (isProbe || this.#probeAt === undefined) this.#open(error);
      return fallback();
    }
  }

  #open(error: unknown): void {
    if (this.#probeAt === undefined) this.#options.onOpen(error);
    this.#probeAt = performance.now() + this.#options.openMs;
  }

  #close(): void {
    this.#probeAt = undefined;
    this.#options.onClose();
  }
}
