/**
 * Load of the pool of workers that serves a kind of work, as read at one time. Work comes from two classes of parties,
 * apps and accounts. The kind's own class is the one that sends this kind.
 */
export interface KindLoad {
  /** From `performance.now()`. */
  at: number;
  /** Number of parties of the own class whose oldest queued work has waited at least `STANDING_QUEUE_WAIT_MS`. */
  standing: number;
  /** Queue length of each other party of the own class. */
  queues: readonly number[];
  /** Number of queued pieces of work from the other class, counted up to some thousands. */
  others: number;
  /** Number of queued pieces of work from both classes. */
  queued: number;
  /** Time that the oldest queued work has waited; 0 when nothing waits. */
  oldestMs: number;
  /** Number of pieces of work that the live workers have claimed since they started, as of their latest heartbeats. */
  claimed: number;
  /** Milliseconds since the latest claim of work that still runs; null when nothing runs. */
  lastClaimMs: number | null;
  running: number;
  /** Number of live worker processes of the pool. */
  workers: number;
  /** Number of pieces of work that these workers can run at once. */
  slots: number;
}

/** A load that was read longer ago than this is ignored. */
const STALE_MS = 2000;
/** A queue counts as standing if its oldest work has waited at least this long. Shorter waits are normal. */
export const STANDING_QUEUE_WAIT_MS = 150;
/**
 * A pool counts as full if at least this share of its slots is in use. The fair order withholds some free slots from
 * busy parties.
 */
const FULL_POOL_SHARE = 0.5;
/** Average service time before any answer has been measured. */
const ASSUMED_SERVICE_MS = 500;
/** Weight of the latest answer in the average service time. */
const SERVICE_WEIGHT = 0.1;
/** The rate of claims is measured over this many service times, so that bursts of claims even out. */
const RATE_WINDOW_SERVICE_TIMES = 4;
const RATE_WINDOW_MIN_MS = 2000;
const RATE_WINDOW_MAX_MS = 10_000;
/** Minimum time over which a rate is measured: a shorter time would only measure the interval of the heartbeats. */
const RATE_SPAN_MIN_MS = 500;
/**
 * If no work is claimed for this many service times, and for at least `SILENT_MIN_MS`, the rate counts as collapsed.
 * Shorter pauses are normal, since slots that were filled together become free together.
 */
const SILENT_SERVICE_TIMES = 1.25;
const SILENT_MIN_MS = 500;
/** Rule of three: if nothing was claimed for a time, the rate is at most 3 claims in that time (95 % confidence). */
const UNSEEN_CLAIMS_MAX = 3;

/**
 * Estimates the time until a new piece of work would be answered: the work ahead of it, divided by the workers' rate.
 *
 * - Work ahead: parties take turns. The new piece's own party gets one turn for each of its queued pieces, and one for
 *   the new piece. A party whose queue stands is assumed to keep its queue filled, so it gets as many turns as the
 *   new piece's party. Any other party gets a turn for each of its queued pieces, up to the same number. The other
 *   class of parties gets every second slot while it has work.
 * - Rate: the rate of recent claims while slots were full and work waited. Before it is measured, the number of queued
 *   pieces divided by the wait of the oldest (Little's law): a new piece waits about as long as the oldest has.
 * - After a time without a claim, the rate is at most 3 in that time. So a collapse shows at once; yet once the queue
 *   has drained, a few pieces are still admitted as probes.
 *
 * Forgets the measured rate whenever no queue stands, the pool is not full, or its workers change, since a refusal must
 * rest on the present queue.
 */
export class LoadEstimate {
  #latest: KindLoad | undefined;
  /** The read from which the rate is measured, then the reads at which `claimed` had increased, oldest first. */
  #steps: { at: number; claimed: number }[] = [];
  #serviceMs = ASSUMED_SERVICE_MS;

  /** Reports whether new work may have to be refused, so that the queue needs watching. */
  get isStrained(): boolean {
    return this.#latest !== undefined && (this.#latest.workers === 0 || isStanding(this.#latest));
  }

  observe(load: KindLoad): void {
    const before = this.#latest;
    this.#latest = load;
    // `claimed` is a sum over the live workers, so it jumps when a worker starts or ends.
    const isComparable = before?.workers === load.workers && load.claimed >= before.claimed;
    if (!isComparable || !isStanding(load) || !isFull(load)) this.#steps = [];
    else this.#measure(load.at, load.claimed);
  }

  noteServed(ms: number): void {
    this.#serviceMs += SERVICE_WEIGHT * (ms - this.#serviceMs);
  }

  /**
   * Returns the smallest number of queued pieces at which a party's next piece would be answered later than `withinMs`;
   * Infinity if there is none. Zero still lets a piece take the place of a queued one; without a worker, nothing may
   * enter the queue, so the number is negative.
   */
  maxQueued(withinMs: number, now: number): number {
    const firstMs = this.answerMs(0, now);
    if (firstMs === Number.POSITIVE_INFINITY) return -1;
    if (firstMs > withinMs) return 0;
    const latest = this.#latest;
    if (latest === undefined || this.answerMs(Number.MAX_SAFE_INTEGER, now) <= withinMs)
      return Number.POSITIVE_INFINITY;
    // The estimate grows with the queue, so bisection finds the largest number that fits.
    let [fits, exceeds] = [0, Math.ceil(withinMs * this.#claimsPerMs(latest)) + 1];
    while (exceeds - fits > 1) {
      const middle = Math.floor((fits + exceeds) / 2);
      if (this.answerMs(middle, now) <= withinMs) fits = middle;
      else exceeds = middle;
    }
    return fits + 1;
  }

  /**
   * Estimates when the next piece of a party with `own` queued pieces is answered, in milliseconds from now. Returns
   * Infinity without a worker, and 0 if the latest read is too old or shows no wait for the party.
   */
  answerMs(own: number, now: number): number {
    const latest = this.#latest;
    if (latest === undefined || now - latest.at > STALE_MS) return 0;
    if (latest.workers === 0) return Number.POSITIVE_INFINITY;
    if (!isStanding(latest) || !isFull(latest)) return 0;
    // The party gets a free slot: the fair order withholds slots only from parties that have their full share.
    if (own === 0 && latest.running < latest.slots) return 0;
    const others = Math.max(0, latest.standing - (own > 0 ? 1 : 0));
    let turnsUpToIt = (own + 1) * (1 + others);
    for (const queued of latest.queues) turnsUpToIt += Math.min(queued, own + 1);
    return (turnsUpToIt + Math.min(latest.others, turnsUpToIt)) / this.#claimsPerMs(latest) + this.#serviceMs;
  }

  #measure(at: number, claimed: number): void {
    const windowMs = Math.max(
      RATE_WINDOW_MIN_MS,
      Math.min(RATE_WINDOW_MAX_MS, RATE_WINDOW_SERVICE_TIMES * this.#serviceMs),
    );
    this.#steps = this.#steps.filter((step) => at - step.at <= windowMs);
    const latest = this.#steps.at(-1);
    // Idle time must not lower the rate: until there is a claim, the measurement starts anew with each read.
    if (latest?.claimed === claimed && this.#steps.length === 1) this.#steps = [];
    if (latest?.claimed !== claimed || this.#steps.length === 0) this.#steps.push({ at, claimed });
  }

  #claimsPerMs({ queued, oldestMs, lastClaimMs }: KindLoad): number {
    const [first] = this.#steps;
    const last = this.#steps.at(-1);
    const isMeasured = first !== undefined && last !== undefined && last.at - first.at >= RATE_SPAN_MIN_MS;
    const claimsPerMs = isMeasured
      ? (last.claimed - first.claimed) / (last.at - first.at)
      : Math.max(1, queued) / oldestMs;
    const silentMs = lastClaimMs ?? 0;
    const isSilent = silentMs > Math.max(SILENT_MIN_MS, SILENT_SERVICE_TIMES * this.#serviceMs);
    return isSilent ? Math.min(claimsPerMs, UNSEEN_CLAIMS_MAX / silentMs) : claimsPerMs;
  }
}

function isStanding({ oldestMs }: KindLoad): boolean {
  return oldestMs >= STANDING_QUEUE_WAIT_MS;
}

function isFull({ running, slots }: KindLoad): boolean {
  return running > 0 && running >= FULL_POOL_SHARE * slots;
}
