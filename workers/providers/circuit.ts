import { ProviderError, type ProviderFault } from './provider.ts';

/** Number of consecutive failures that open a circuit. */
const FAILURES_TO_OPEN = 20;
/** If calls of more apps and accounts than this fail, their requests are not the cause. */
const PARTIES_MAX = 100;

/**
 * A circuit breaker for one model in this process. It opens only for the apps and accounts whose own calls failed,
 * since their requests may be the cause; after failures of more than `PARTIES_MAX` of them, for all. Such blame, and
 * the pauses that a provider asks for, are why no library serves. Times are from `performance.now()`.
 */
export class Circuit {
  readonly #probeEveryMs: number;
  /** Failures since the last success, and the apps and accounts whose calls failed. */
  #failures = 0;
  readonly #parties = new Set<string>();
  /** Fault of refused calls. A timeout counts as `failed`, because callers would retry at once after `timeout`. */
  #fault: ProviderFault = 'failed';
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Time from which on the model may be probed; undefined while the circuit is closed. */
  #probeAt: number | undefined;

  constructor(probeEveryMs: number) {
    this.#probeEveryMs = probeEveryMs;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** Returns true if the call must be the probe. Throws if the app or account may not call. */
  check(party: string): boolean {
    if (this.pausedMs > 0) throw this.#refusal('it asked to be left alone', this.pausedMs);
    if (this.#probeAt === undefined || !this.#blames(party)) return false;
    const probeInMs = this.#probeAt - performance.now();
    if (probeInMs > 0) throw this.#refusal('circuit open', probeInMs);
    return true;
  }

  /** Throws if the app or account may not call. A call that is the probe postpones the next one. */
  enter(party: string): void {
    if (this.check(party)) this.#postponeProbe();
  }

  noteSuccess(): void {
    this.#failures = 0;
    this.#parties.clear();
    this.#probeAt = undefined;
  }

  /** If the provider says how long to wait (`retryAfterMs`), the failure counts as a pause. */
  noteFailure(party: string, fault: ProviderFault, retryAfterMs: number | undefined): void {
    this.#fault = fault === 'rate_limited' ? fault : 'failed';
    if (retryAfterMs !== undefined) {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + retryAfterMs);
      return;
    }
    this.#failures += 1;
    if (this.#parties.size <= PARTIES_MAX) this.#parties.add(party);
    if (this.#failures >= FAILURES_TO_OPEN && !this.isOpen) this.#postponeProbe();
  }

  #blames(party: string): boolean {
    return this.#parties.size > PARTIES_MAX || this.#parties.has(party);
  }

  #postponeProbe(): void {
    this.#probeAt = performance.now() + this.#probeEveryMs;
  }

  #refusal(why: string, retryAfterMs: number): ProviderError {
    return new ProviderError(this.#fault, `not called: ${why}`, { retryAfterMs, outage: true });
  }
}
