import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleAll,
} from 'cockatiel';

export interface CircuitBreakerOptions {
  /** How long the circuit stays open before one call probes the dependency. */
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
  readonly #policy: CircuitBreakerPolicy;

  constructor({ openMs, onOpen, onClose }: CircuitBreakerOptions) {
    this.#policy = circuitBreaker(handleAll, { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(1) });
    let isOpen = false;
    this.#policy.onBreak((reason) => {
      if (isOpen) return;
      isOpen = true;
      onOpen('error' in reason ? reason.error : undefined);
    });
    this.#policy.onReset(() => {
      isOpen = false;
      onClose();
    });
  }

  /** What `work` resolves with; the fallback's result if it fails or may not be tried. */
  async run<T>(work: () => Promise<T>, fallback: () => Promise<T>): Promise<T> {
    // Cockatiel would let the others wait for the probe.
    if (this.#policy.state === CircuitState.HalfOpen) return fallback();
    try {
      return await this.#policy.execute(work);
    } catch {
      return fallback();
    }
  }
}
