import type { CircuitNews, CircuitState, CircuitTerms } from '../../../shared/db/stores/provider-circuits.ts';
import { ProviderError, type ProviderFault } from '../provider.ts';

interface Unreported {
  succeeded: boolean;
  /** Since then. */
  failures: number;
  pausedUntil: number | undefined;
  /** Others should not have to wait for their next poll to learn it. */
  urgent: boolean;
}

export type UrgentNews = CircuitNews & { urgent: boolean };

const NOTHING: Unreported = { succeeded: false, failures: 0, pausedUntil: undefined, urgent: false };

/**
 * A circuit breaker for one model, as this process knows it: what all workers have reported, and what this one has seen
 * since. Moments are of `performance.now()`. Cockatiel's breaker cannot be told what other processes have seen.
 */
export class Circuit {
  readonly #model: string;
  readonly #terms: CircuitTerms;
  /** In a row. */
  #failures = 0;
  /** What a call gets that may not be sent. Never `timeout`, after which callers try again at once. */
  #fault: 'failed' | 'rate_limited' = 'failed';
  /** The provider asked to be left alone until then. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** When it may be probed; undefined: it is closed. */
  #probeAt: number | undefined;
  #unreported: Unreported | undefined;

  constructor(model: string, terms: CircuitTerms) {
    this.#model = model;
    this.#terms = terms;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Whether a call has to be the probe. Throws while nobody may call. */
  check(): boolean {
    const now = performance.now();
    if (this.#pausedUntil > now) throw this.#refusal('it asked to be left alone', this.#pausedUntil - now);
    if (this.#probeAt === undefined) return false;
    if (this.#probeAt > now) throw this.#refusal('circuit open', this.#probeAt - now);
    return true;
  }

  /** This process probes, or another one does: the next probe is an interval away. */
  probing(): void {
    this.#probeAt = performance.now() + this.#terms.probeEveryMs;
  }

  /** Whether that is worth reporting: not if no call has failed since the last success. */
  succeeded(): boolean {
    if (this.#failures === 0) return false;
    const seen = this.#unreported ?? NOTHING;
    this.#unreported = { ...seen, succeeded: true, failures: 0, urgent: seen.urgent || this.isOpen };
    this.#failures = 0;
    this.#probeAt = undefined;
    return true;
  }

  /** A provider that says for how long it cannot answer is not broken: that is a pause, and no failure. */
  failed(fault: ProviderFault, retryAfterMs: number | undefined): void {
    this.#fault = faultOf(fault);
    const seen = this.#unreported ?? NOTHING;
    if (retryAfterMs === undefined) {
      this.#failures += 1;
      this.#unreported = { ...seen, failures: seen.failures + 1 };
      if (this.#failures >= this.#terms.failuresToOpen && !this.isOpen) this.probing();
    } else {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + retryAfterMs);
      this.#unreported = { ...seen, pausedUntil: this.#pausedUntil, urgent: true };
    }
  }

  /** Takes what has not been reported. */
  takeNews(): UrgentNews | undefined {
    if (this.#unreported === undefined) return undefined;
    const { pausedUntil, ...seen } = this.#unreported;
    this.#unreported = undefined;
    const pauseMs = pausedUntil === undefined ? null : Math.max(0, pausedUntil - performance.now());
    return { ...seen, model: this.#model, fault: this.#fault, pauseMs };
  }

  /** Takes news back that could not be reported. */
  returnNews({ succeeded, failures, pauseMs, urgent }: UrgentNews): void {
    const later = this.#unreported ?? NOTHING;
    const pausedUntil = pauseMs === null ? undefined : performance.now() + pauseMs;
    this.#unreported = {
      succeeded: succeeded || later.succeeded,
      failures: later.failures + (later.succeeded ? 0 : failures),
      pausedUntil: later.pausedUntil ?? pausedUntil,
      urgent: urgent || later.urgent,
    };
  }

  /** What all workers have reported, with what this one has not yet. */
  adopt(state: CircuitState | undefined): void {
    const now = performance.now();
    const own = this.#unreported;
    this.#failures = (own?.succeeded ? 0 : (state?.failures ?? 0)) + (own?.failures ?? 0);
    if (state !== undefined && own === undefined) this.#fault = faultOf(state.fault);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + (state?.pausedMs ?? 0));
    if (this.#failures < this.#terms.failuresToOpen) this.#probeAt = undefined;
    else if (typeof state?.probeMs === 'number') this.#probeAt = now + state.probeMs;
    else if (!this.isOpen) this.probing();
  }

  #refusal(why: string, retryAfterMs: number): ProviderError {
    return new ProviderError(this.#fault, `not called: ${why}`, { retryAfterMs, outage: true });
  }
}

function faultOf(name: string): 'failed' | 'rate_limited' {
  return name === 'rate_limited' ? name : 'failed';
}
