import type { CircuitNews, CircuitSettings, CircuitState } from '../../shared/db/stores/provider-circuits.ts';
import { LONGEST_PAUSE_MS, ProviderError, type ProviderFault } from './provider.ts';

interface FailureStreak {
  readonly failures: number;
  /**
   * Apps and accounts whose calls failed. If there are more than `PARTIES_MAX`, all apps and accounts count as failed.
   */
  readonly parties: readonly string[];
}

/** If calls of more apps and accounts than this fail, their requests are not the cause. */
const PARTIES_MAX = 100;

const NO_FAILURE: FailureStreak = { failures: 0, parties: [] };

interface UnreportedNews {
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
 * A circuit breaker for one model, fed by the reports of all workers. It opens only for apps and accounts whose own
 * calls failed, since their requests may be the cause. After failures of more than `PARTIES_MAX` of them, it opens for
 * all. Times are from `performance.now()`.
 */
export class Circuit {
  readonly #model: string;
  readonly #settings: CircuitSettings;
  #streak = NO_FAILURE;
  /** Fault of refused calls. A timeout counts as `failed`, because callers would retry at once after `timeout`. */
  #fault: 'failed' | 'rate_limited' = 'failed';
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Time from which on the model may be probed; undefined while the circuit is closed. */
  #probeAt: number | undefined;
  #isClaimed = false;
  #unreportedNews: UnreportedNews | undefined;

  constructor(model: string, settings: CircuitSettings) {
    this.#model = model;
    this.#settings = settings;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** Returns true if the call must be the probe. Throws if the app or account may not call. */
  check(party: string): boolean {
    const now = performance.now();
    if (this.#pausedUntil > now) throw this.#refusal('it asked to be left alone', this.#pausedUntil - now);
    if (this.#probeAt === undefined || !includesParty(this.#streak, party)) return false;
    if (this.#probeAt > now || this.#isClaimed) throw this.refusal();
    return true;
  }

  refusal(): ProviderError {
    return this.#refusal('circuit open', Math.max(0, (this.#probeAt ?? 0) - performance.now()));
  }

  /** Opens the circuit if it is closed. */
  postponeProbe(): void {
    this.#probeAt = performance.now() + this.#settings.probeEveryMs;
  }

  /** Blocks probes by other calls of this worker while `claim` decides which worker may probe. */
  async whileClaimed<T>(claim: () => Promise<T>): Promise<T> {
    this.postponeProbe();
    this.#isClaimed = true;
    try {
      return await claim();
    } finally {
      this.#isClaimed = false;
    }
  }

  /** Returns true if the success must be reported, which is so only if a call has failed since the last success. */
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

  /** If the provider says how long to wait (`retryAfterMs`), the failure counts as a pause. */
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

  takeNews(): OutgoingNews | undefined {
    if (this.#unreportedNews === undefined) return undefined;
    const { succeeded, streak, pausedUntil, urgent } = this.#unreportedNews;
    this.#unreportedNews = undefined;
    const pauseMs = pausedUntil === undefined ? null : Math.max(0, pausedUntil - performance.now());
    return { model: this.#model, succeeded, ...streak, fault: this.#fault, pauseMs, urgent };
  }

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

  /** Adopts the state that all workers have reported, plus the unreported news of this worker. */
  adopt(state: CircuitState | undefined): void {
    const now = performance.now();
    const own = this.#unreportedNews;
    this.#streak = joinStreaks(
      own?.succeeded ? NO_FAILURE : (state ?? NO_FAILURE),
      own?.streak ?? NO_FAILURE,
    );
    if (state !== undefined && own === undefined) this.#fault = faultOf(state.fault);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + plausibleMs(state?.pausedMs, LONGEST_PAUSE_MS));
    if (this.#streak.failures < this.#settings.failuresToOpen) this.#probeAt = undefined;
    else if (typeof state?.probeMs === 'number') {
      const probeAt = now + plausibleMs(state.probeMs, this.#settings.probeEveryMs);
      // A state that was read before this worker's claim does not contain the claim.
      this.#probeAt = this.#isClaimed ? Math.max(probeAt, this.#probeAt ?? probeAt) : probeAt;
    } else if (!this.isOpen) this.postponeProbe();
  }

  #refusal(why: string, retryAfterMs: number): ProviderError {
    return new ProviderError(this.#fault, `not called: ${why}`, { retryAfterMs, outage: true });
  }
}

/** The database keeps whole milliseconds. */
const ROUNDING_MS = 1;

/** Returns 0 for a time that is longer than possible, as after the database clock was set back. */
function plausibleMs(ms: number | null | undefined, longestMs: number): number {
  return typeof ms === 'number' && ms <= longestMs + ROUNDING_MS ? ms : 0;
}

function joinStreaks(a: FailureStreak, b: FailureStreak): FailureStreak {
  const parties = new Set([...a.parties, ...b.parties]);
  return { failures: a.failures + b.failures, parties: [...parties].slice(0, PARTIES_MAX + 1) };
}

function includesParty({ parties }: FailureStreak, party: string): boolean {
  return parties.length > PARTIES_MAX || parties.includes(party);
}

function faultOf(name: string): 'failed' | 'rate_limited' {
  return name === 'rate_limited' ? name : 'failed';
}
