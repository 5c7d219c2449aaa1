import type { CircuitNews, CircuitSettings, CircuitState } from '../../shared/db/stores/provider-circuits.ts';
import { LONGEST_PAUSE_MS, ProviderError, type ProviderFault } from './provider.ts';

/** Consecutive failures. */
interface FailureStreak {
  readonly failures: number;
  /** Parties whose calls failed. If there are more than `PARTIES_MAX`, every party counts as failed. */
  readonly parties: readonly string[];
}

/** Number of parties above which consecutive failures are not the fault of single parties. */
const PARTIES_MAX = 100;

const NO_FAILURE: FailureStreak = { failures: 0, parties: [] };

interface UnreportedNews {
  /** True if a call has succeeded. */
  succeeded: boolean;
  /** Failures since the last success. */
  streak: FailureStreak;
  pausedUntil: number | undefined;
  /** True if other workers should learn the news at once, not at their next poll. */
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
 * A circuit breaker for one model, as this worker knows it: from what all workers have reported, and from what this
 * worker has seen since. It is open only for parties whose own calls failed, because their requests may be the cause:
 * the failures of at most `PARTIES_MAX` parties must never make another party's calls fail. After failures of more
 * parties, it is open for all. Times are from `performance.now()`.
 */
export class Circuit {
  readonly #model: string;
  readonly #settings: CircuitSettings;
  #streak = NO_FAILURE;
  /** Fault of refused calls. A timeout counts as `failed`, because callers would retry at once after `timeout`. */
  #fault: 'failed' | 'rate_limited' = 'failed';
  /** End of the pause for which the provider asked. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Time from which on the model may be probed; undefined while the circuit is closed. */
  #probeAt: number | undefined;
  /** True while a call of this worker claims the probe. Meanwhile no other call may be the probe. */
  #isClaimed = false;
  #unreportedNews: UnreportedNews | undefined;

  constructor(model: string, settings: CircuitSettings) {
    this.#model = model;
    this.#settings = settings;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Milliseconds until the end of the pause for which the provider asked. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** Reports whether a call of the party must be the probe. Throws if the party may not call. */
  check(party: string): boolean {
    const now = performance.now();
    if (this.#pausedUntil > now) throw this.#refusal('it asked to be left alone', this.#pausedUntil - now);
    if (this.#probeAt === undefined || !includesParty(this.#streak, party)) return false;
    if (this.#probeAt > now || this.#isClaimed) throw this.refusal();
    return true;
  }

  /** Returns the error for a call that the open circuit refuses. */
  refusal(): ProviderError {
    return this.#refusal('circuit open', Math.max(0, (this.#probeAt ?? 0) - performance.now()));
  }

  /** Sets the next probe to one interval from now, because the circuit has opened or a probe is being claimed. */
  postponeProbe(): void {
    this.#probeAt = performance.now() + this.#settings.probeEveryMs;
  }

  /**
   * Lets no other call probe while `claim` decides which worker may probe, even if another state is adopted meanwhile.
   */
  async whileClaimed<T>(claim: () => Promise<T>): Promise<T> {
    this.postponeProbe();
    this.#isClaimed = true;
    try {
      return await claim();
    } finally {
      this.#isClaimed = false;
    }
  }

  /** Notes a success. Returns whether it must be reported: only if a call has failed since the last success. */
  noteSuccess(): boolean {
    if (this.#streak.failures === 0) return false;
    const news = this.#unreportedNews ?? NO_NEWS;
    this.#unreportedNews = {
      ...news,
      succeeded: true,
      streak: NO_FAILURE,
      urgent: news.urgent || this.isOpen,
    };
    this.#streak = NO_FAILURE;
    this.#probeAt = undefined;
    return true;
  }

  /** Notes a failure. If the provider says how long it cannot answer, the failure counts as a pause instead. */
  noteFailure(party: string, fault: ProviderFault, retryAfterMs: number | undefined): void {
    this.#fault = faultOf(fault);
    const news = this.#unreportedNews ?? NO_NEWS;
    if (retryAfterMs === undefined) {
      const failure = { failures: 1, parties: [party] };
      // The open circuit now blocks this party too, which other workers must learn at once.
      const urgent = news.urgent || (this.isOpen && !includesParty(this.#streak, party));
      this.#streak = joinStreaks(this.#streak, failure);
      this.#unreportedNews = { ...news, streak: joinStreaks(news.streak, failure), urgent };
      if (this.#streak.failures >= this.#settings.failuresToOpen && !this.isOpen) this.postponeProbe();
    } else {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + retryAfterMs);
      this.#unreportedNews = { ...news, pausedUntil: this.#pausedUntil, urgent: true };
    }
  }

  /** Returns the unreported news, which counts as reported from now on. */
  takeNews(): OutgoingNews | undefined {
    if (this.#unreportedNews === undefined) return undefined;
    const { succeeded, streak, pausedUntil, urgent } = this.#unreportedNews;
    this.#unreportedNews = undefined;
    const pauseMs = pausedUntil === undefined ? null : Math.max(0, pausedUntil - performance.now());
    return { model: this.#model, succeeded, ...streak, fault: this.#fault, pauseMs, urgent };
  }

  /** Puts back news that could not be reported. */
  returnNews({ succeeded, failures, parties, pauseMs, urgent }: OutgoingNews): void {
    const later = this.#unreportedNews ?? NO_NEWS;
    const pausedUntil = pauseMs === null ? undefined : performance.now() + pauseMs;
    this.#unreportedNews = {
      succeeded: succeeded || later.succeeded,
      streak: later.succeeded ? later.streak : joinStreaks({ failures, parties }, later.streak),
      pausedUntil: later.pausedUntil ?? pausedUntil,
      urgent: urgent || later.urgent,
    };
  }

  /** Adopts the state that all workers have reported, and adds the unreported news of this worker. */
  adopt(state: CircuitState | undefined): void {
    const now = performance.now();
    const own = this.#unreportedNews;
    this.#streak = joinStreaks(own?.succeeded ? NO_FAILURE : streakOf(state), own?.streak ?? NO_FAILURE);
    if (state !== undefined && own === undefined) this.#fault = faultOf(state.fault);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + plausibleMs(state?.pausedMs, LONGEST_PAUSE_MS));
    if (this.#streak.failures < this.#settings.failuresToOpen) this.#probeAt = undefined;
    else if (typeof state?.probeMs === 'number') {
      const probeAt = now + plausibleMs(state.probeMs, this.#settings.probeEveryMs);
      // A state that was read before the claim does not include the claim.
      this.#probeAt = this.#isClaimed ? Math.max(probeAt, this.#probeAt ?? probeAt) : probeAt;
    } else if (!this.isOpen) this.postponeProbe();
  }

  #refusal(why: string, retryAfterMs: number): ProviderError {
    return new ProviderError(this.#fault, `not called: ${why}`, { retryAfterMs, outage: true });
  }
}

/** Maximum amount by which a stored time is rounded up, because the database keeps whole milliseconds. */
const ROUNDING_MS = 1;

/** Returns a time left, or 0 if it is longer than possible because the database's clock was set back. */
function plausibleMs(ms: number | null | undefined, longestMs: number): number {
  return typeof ms === 'number' && ms <= longestMs + ROUNDING_MS ? ms : 0;
}

function joinStreaks(a: FailureStreak, b: FailureStreak): FailureStreak {
  const parties = new Set([...a.parties, ...b.parties]);
  return { failures: a.failures + b.failures, parties: [...parties].slice(0, PARTIES_MAX + 1) };
}

/** Reports whether a call of the party may be among the failures. */
function includesParty({ parties }: FailureStreak, party: string): boolean {
  return parties.length > PARTIES_MAX || parties.includes(party);
}

function streakOf({ failures, parties }: FailureStreak = NO_FAILURE): FailureStreak {
  return { failures, parties };
}

function faultOf(name: string): 'failed' | 'rate_limited' {
  return name === 'rate_limited' ? name : 'failed';
}
