import type { CircuitNews, CircuitState, CircuitTerms } from '../../shared/db/stores/provider-circuits.ts';
import { LONGEST_PAUSE_MS, ProviderError, type ProviderFault } from './provider.ts';

/** Failures in a row. */
interface Streak {
  readonly failures: number;
  /** Parties whose calls failed; more than `PARTIES_MAX`: anybody's. */
  readonly parties: readonly string[];
}

/** When the calls of more parties than this fail in a row, it is no party's own doing. */
const PARTIES_MAX = 100;

const NO_FAILURE: Streak = { failures: 0, parties: [] };

interface Unreported {
  succeeded: boolean;
  /** Since then. */
  streak: Streak;
  pausedUntil: number | undefined;
  /** Others should not have to wait for their next poll to learn it. */
  urgent: boolean;
}

export type UrgentNews = CircuitNews & { urgent: boolean };

const NOTHING: Unreported = { succeeded: false, streak: NO_FAILURE, pausedUntil: undefined, urgent: false };

/**
 * A circuit breaker for one model, as this process knows it: what all workers have reported, and what this one has seen
 * since. It is open for the parties whose own calls failed: what fails may be their requests, and one party's failures
 * never make another's calls fail.
 * Moments are of `performance.now()`.
 */
export class Circuit {
  readonly #model: string;
  readonly #terms: CircuitTerms;
  #streak = NO_FAILURE;
  /** Error of a call that may not be sent. Never `timeout`, after which callers try again at once. */
  #fault: 'failed' | 'rate_limited' = 'failed';
  /** The provider asked to be left alone until then. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** When it may be probed; undefined: it is closed. */
  #probeAt: number | undefined;
  /** A call of this process is about to learn whether it is the probe: no other one may be. */
  #isClaimed = false;
  #unreported: Unreported | undefined;

  constructor(model: string, terms: CircuitTerms) {
    this.#model = model;
    this.#terms = terms;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Time that the provider still asks to be left alone. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** True if the party's call has to be the probe. Throws while the party may not call. */
  check(party: string): boolean {
    const now = performance.now();
    if (this.#pausedUntil > now) throw this.#refusal('it asked to be left alone', this.#pausedUntil - now);
    if (this.#probeAt === undefined || !concerns(this.#streak, party)) return false;
    if (this.#probeAt > now || this.#isClaimed) throw this.refusal();
    return true;
  }

  /** Error of a call while the circuit is open. */
  refusal(): ProviderError {
    return this.#refusal('circuit open', Math.max(0, (this.#probeAt ?? 0) - performance.now()));
  }

  /** This process probes, or another one does: the next probe is an interval away. */
  probing(): void {
    this.#probeAt = performance.now() + this.#terms.probeEveryMs;
  }

  /** Refuses all other calls while `claim` finds out whose the probe is, whatever is adopted meanwhile. */
  async whileClaimed<T>(claim: () => Promise<T>): Promise<T> {
    this.probing();
    this.#isClaimed = true;
    try {
      return await claim();
    } finally {
      this.#isClaimed = false;
    }
  }

  /** True if that is worth reporting: not if no call has failed since the last success. */
  succeeded(): boolean {
    if (this.#streak.failures === 0) return false;
    const seen = this.#unreported ?? NOTHING;
    this.#unreported = { ...seen, succeeded: true, streak: NO_FAILURE, urgent: seen.urgent || this.isOpen };
    this.#streak = NO_FAILURE;
    this.#probeAt = undefined;
    return true;
  }

  /** A provider that says for how long it cannot answer is not broken: that is a pause, and no failure. */
  failed(party: string, fault: ProviderFault, retryAfterMs: number | undefined): void {
    this.#fault = faultOf(fault);
    const seen = this.#unreported ?? NOTHING;
    if (retryAfterMs === undefined) {
      const failure = { failures: 1, parties: [party] };
      // It is open for one more.
      const urgent = seen.urgent || (this.isOpen && !concerns(this.#streak, party));
      this.#streak = joined(this.#streak, failure);
      this.#unreported = { ...seen, streak: joined(seen.streak, failure), urgent };
      if (this.#streak.failures >= this.#terms.failuresToOpen && !this.isOpen) this.probing();
    } else {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + retryAfterMs);
      this.#unreported = { ...seen, pausedUntil: this.#pausedUntil, urgent: true };
    }
  }

  /** Takes what has not been reported. */
  takeNews(): UrgentNews | undefined {
    if (this.#unreported === undefined) return undefined;
    const { succeeded, streak, pausedUntil, urgent } = this.#unreported;
    this.#unreported = undefined;
    const pauseMs = pausedUntil === undefined ? null : Math.max(0, pausedUntil - performance.now());
    return { model: this.#model, succeeded, ...streak, fault: this.#fault, pauseMs, urgent };
  }

  /** Takes news back that could not be reported. */
  returnNews({ succeeded, failures, parties, pauseMs, urgent }: UrgentNews): void {
    const later = this.#unreported ?? NOTHING;
    const pausedUntil = pauseMs === null ? undefined : performance.now() + pauseMs;
    this.#unreported = {
      succeeded: succeeded || later.succeeded,
      streak: later.succeeded ? later.streak : joined({ failures, parties }, later.streak),
      pausedUntil: later.pausedUntil ?? pausedUntil,
      urgent: urgent || later.urgent,
    };
  }

  /** Reports of all workers, with what this one has not reported yet. */
  adopt(state: CircuitState | undefined): void {
    const now = performance.now();
    const own = this.#unreported;
    this.#streak = joined(own?.succeeded ? NO_FAILURE : streakOf(state), own?.streak ?? NO_FAILURE);
    if (state !== undefined && own === undefined) this.#fault = faultOf(state.fault);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + possible(state?.pausedMs, LONGEST_PAUSE_MS));
    if (this.#streak.failures < this.#terms.failuresToOpen) this.#probeAt = undefined;
    else if (typeof state?.probeMs === 'number') {
      const probeAt = now + possible(state.probeMs, this.#terms.probeEveryMs);
      // A state that was read before the claim does not know of it.
      this.#probeAt = this.#isClaimed ? Math.max(probeAt, this.#probeAt ?? probeAt) : probeAt;
    } else if (!this.isOpen) this.probing();
  }

  #refusal(why: string, retryAfterMs: number): ProviderError {
    return new ProviderError(this.#fault, `not called: ${why}`, { retryAfterMs, outage: true });
  }
}

/** The database keeps whole milliseconds, and rounds up as well. */
const ROUNDED_MS = 1;

/** The time, or 0 if it is longer than it ever was: the database's clock has gone back, as a failover may make it. */
function possible(ms: number | null | undefined, longestMs: number): number {
  return typeof ms === 'number' && ms <= longestMs + ROUNDED_MS ? ms : 0;
}

/** Both, as one. */
function joined(a: Streak, b: Streak): Streak {
  const parties = new Set([...a.parties, ...b.parties]);
  return { failures: a.failures + b.failures, parties: [...parties].slice(0, PARTIES_MAX + 1) };
}

/** True if a call of the party is among the failures. */
function concerns({ parties }: Streak, party: string): boolean {
  return parties.length > PARTIES_MAX || parties.includes(party);
}

function streakOf({ failures, parties }: Streak = NO_FAILURE): Streak {
  return { failures, parties };
}

function faultOf(name: string): 'failed' | 'rate_limited' {
  return name === 'rate_limited' ? name : 'failed';
}
