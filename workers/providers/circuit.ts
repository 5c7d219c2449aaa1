import type { CircuitNews, CircuitState, CircuitTerms } from '../../shared/db/stores/provider-circuits.ts';
import { LONGEST_PAUSE_MS, ProviderError, type ProviderFault } from './provider.ts';

/** Failures in a row. */
interface FailureStreak {
  readonly failures: number;
  /** Parties whose calls failed. With more than `PARTIES_MAX` of them, every party counts as one. */
  readonly parties: readonly string[];
}

/** Number of parties above which failures in a row are no party's own doing. */
const PARTIES_MAX = 100;

const NO_FAILURE: FailureStreak = { failures: 0, parties: [] };

interface UnreportedNews {
  /** True if a call has succeeded. */
  succeeded: boolean;
  /** Failures since the last success. */
  streak: FailureStreak;
  pausedUntil: number | undefined;
  /** True if the other workers should not have to wait for their next poll to learn the news. */
  urgent: boolean;
}

export type OutgoingNews = CircuitNews & { urgent: boolean };

const NO_NEWS: UnreportedNews = {
  succeeded: false,
  streak: NO_FAILURE,
  pausedUntil: undefined,
  urgent: false,
};

/**
 * A circuit breaker for one model, as this process knows it: what all workers have reported, and what this one has seen
 * since. It is open only for the parties whose own calls failed: their requests may be the cause, and one party's
 * failures must never make another's calls fail.
 * Times are those of `performance.now()`.
 */
export class Circuit {
  readonly #model: string;
  readonly #terms: CircuitTerms;
  #streak = NO_FAILURE;
  /** Fault of calls that may not be sent. It is never `timeout`, after which callers try again at once. */
  #fault: 'failed' | 'rate_limited' = 'failed';
  /** Time until which the provider asked to be left alone. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Time from which on the model may be probed; undefined while the circuit is closed. */
  #probeAt: number | undefined;
  /** True while a call of this process finds out whether it is the probe. Meanwhile no other call may be. */
  #isClaimed = false;
  #unreported: UnreportedNews | undefined;

  constructor(model: string, terms: CircuitTerms) {
    this.#model = model;
    this.#terms = terms;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Milliseconds for which the provider still asks to be left alone. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** Reports whether the party's call has to be the probe. Throws while the party may not call. */
  check(party: string): boolean {
    const now = performance.now();
    if (this.#pausedUntil > now) throw this.#refusal('it asked to be left alone', this.#pausedUntil - now);
    if (this.#probeAt === undefined || !includesParty(this.#streak, party)) return false;
    if (this.#probeAt > now || this.#isClaimed) throw this.refusal();
    return true;
  }

  /** Returns the error of a call while the circuit is open. */
  refusal(): ProviderError {
    return this.#refusal('circuit open', Math.max(0, (this.#probeAt ?? 0) - performance.now()));
  }

  /** Puts the next probe off by one interval, because this process or another one is probing. */
  postponeProbe(): void {
    this.#probeAt = performance.now() + this.#terms.probeEveryMs;
  }

  /** Refuses all other calls while `claim` finds out which process may probe, whatever state is adopted meanwhile. */
  async whileClaimed<T>(claim: () => Promise<T>): Promise<T> {
    this.postponeProbe();
    this.#isClaimed = true;
    try {
      return await claim();
    } finally {
      this.#isClaimed = false;
    }
  }

  /** Notes a success. Returns whether it is worth reporting: not if no call has failed since the last success. */
  noteSuccess(): boolean {
    if (this.#streak.failures === 0) return false;
    const seen = this.#unreported ?? NO_NEWS;
    this.#unreported = { ...seen, succeeded: true, streak: NO_FAILURE, urgent: seen.urgent || this.isOpen };
    this.#streak = NO_FAILURE;
    this.#probeAt = undefined;
    return true;
  }

  /**
   * Notes a failure. A provider that says for how long it cannot answer is not broken: that counts as a pause instead.
   */
  noteFailure(party: string, fault: ProviderFault, retryAfterMs: number | undefined): void {
    this.#fault = faultOf(fault);
    const seen = this.#unreported ?? NO_NEWS;
    if (retryAfterMs === undefined) {
      const failure = { failures: 1, parties: [party] };
      // The circuit opens for one more party.
      const urgent = seen.urgent || (this.isOpen && !includesParty(this.#streak, party));
      this.#streak = joinStreaks(this.#streak, failure);
      this.#unreported = { ...seen, streak: joinStreaks(seen.streak, failure), urgent };
      if (this.#streak.failures >= this.#terms.failuresToOpen && !this.isOpen) this.postponeProbe();
    } else {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + retryAfterMs);
      this.#unreported = { ...seen, pausedUntil: this.#pausedUntil, urgent: true };
    }
  }

  /** Takes out the news that has not been reported. */
  takeNews(): OutgoingNews | undefined {
    if (this.#unreported === undefined) return undefined;
    const { succeeded, streak, pausedUntil, urgent } = this.#unreported;
    this.#unreported = undefined;
    const pauseMs = pausedUntil === undefined ? null : Math.max(0, pausedUntil - performance.now());
    return { model: this.#model, succeeded, ...streak, fault: this.#fault, pauseMs, urgent };
  }

  /** Puts back news that could not be reported. */
  returnNews({ succeeded, failures, parties, pauseMs, urgent }: OutgoingNews): void {
    const later = this.#unreported ?? NO_NEWS;
    const pausedUntil = pauseMs === null ? undefined : performance.now() + pauseMs;
    this.#unreported = {
      succeeded: succeeded || later.succeeded,
      streak: later.succeeded ? later.streak : joinStreaks({ failures, parties }, later.streak),
      pausedUntil: later.pausedUntil ?? pausedUntil,
      urgent: urgent || later.urgent,
    };
  }

  /** Adopts what all workers have reported, and adds what this one has not reported yet. */
  adopt(state: CircuitState | undefined): void {
    const now = performance.now();
    const own = this.#unreported;
    this.#streak = joinStreaks(own?.succeeded ? NO_FAILURE : streakOf(state), own?.streak ?? NO_FAILURE);
    if (state !== undefined && own === undefined) this.#fault = faultOf(state.fault);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + plausibleMs(state?.pausedMs, LONGEST_PAUSE_MS));
    if (this.#streak.failures < this.#terms.failuresToOpen) this.#probeAt = undefined;
    else if (typeof state?.probeMs === 'number') {
      const probeAt = now + plausibleMs(state.probeMs, this.#terms.probeEveryMs);
      // A state read before the claim does not include it.
      this.#probeAt = this.#isClaimed ? Math.max(probeAt, this.#probeAt ?? probeAt) : probeAt;
    } else if (!this.isOpen) this.postponeProbe();
  }

  #refusal(why: string, retryAfterMs: number): ProviderError {
    return new ProviderError(this.#fault, `not called: ${why}`, { retryAfterMs, outage: true });
  }
}

/** Amount by which a stored time may have been rounded up, because the database keeps whole milliseconds. */
const ROUNDING_MS = 1;

/** Returns the time, or 0 if it is longer than possible: the database's clock has gone back, as after a failover. */
function plausibleMs(ms: number | null | undefined, longestMs: number): number {
  return typeof ms === 'number' && ms <= longestMs + ROUNDING_MS ? ms : 0;
}

/** Joins two streaks. */
function joinStreaks(a: FailureStreak, b: FailureStreak): FailureStreak {
  const parties = new Set([...a.parties, ...b.parties]);
  return { failures: a.failures + b.failures, parties: [...parties].slice(0, PARTIES_MAX + 1) };
}

/** Reports whether a call of the party is among the failures. */
function includesParty({ parties }: FailureStreak, party: string): boolean {
  return parties.length > PARTIES_MAX || parties.includes(party);
}

function streakOf({ failures, parties }: FailureStreak = NO_FAILURE): FailureStreak {
  return { failures, parties };
}

function faultOf(name: string): 'failed' | 'rate_limited' {
  return name === 'rate_limited' ? name : 'failed';
}
