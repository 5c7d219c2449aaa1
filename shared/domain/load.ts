/** The load of a kind of work, as one read found it. */
export interface KindLoad {
  /** The time of the read, by `performance.now()`. */
  at: number;
  /** The number of parties of the kind's class whose work in its pool has waited for `STANDING_MS`. */
  standing: number;
  /** The queue of each other party of the class. */
  queues: readonly number[];
  /** The queues of the other class, and of both: up to some thousands. */
  others: number;
  queued: number;
  /** The wait of the oldest; 0 when nothing waits. */
  oldestMs: number;
  /** Work that the live workers have claimed since each started. Heartbeats report it, so it moves in steps of half a second. */
  claimed: number;
  /** Milliseconds since the latest claim among the work that still runs; null when nothing runs. */
  lastClaimMs: number | null;
  running: number;
  /** Live worker processes of the pool, and the sum of their slots. */
  workers: number;
  slots: number;
}

/** Age after which a read is ignored: the database does not answer. */
const STALE_MS = 2000;
/** The wait of its oldest from which on a queue stands; others are just passing through. */
export const STANDING_MS = 150;
/** No party gets all slots, so a single one can fill only a share. If fewer run, what waits is not waiting for slots. */
const FULL_SHARE = 0.5;
/** The assumed service time until one is measured. */
const FIRST_SERVICE_MS = 500;
const SERVICE_WEIGHT = 0.1;
/** The rate is measured over this many service times, within these bounds, so that bursts of claims even out. */
const WINDOW_SERVICES = 4;
const WINDOW_MIN_MS = 2000;
const WINDOW_MAX_MS = 10_000;
/** Shorter spans would only measure the steps of the heartbeats. */
const SPAN_MIN_MS = 500;
/** Slots filled together fall free together: only no claim for this many service times, and at least this long, is a collapse. */
const SILENT_SERVICES = 1.25;
const SILENT_MIN_MS = 500;
/** The rule of three: if nothing was seen, the rate is with 95 % confidence at most 3 in that time. */
const UNSEEN = 3;

/**
 * Estimates how long a new piece of work would take to be answered: the work ahead of it, divided by the workers' rate.
 *
 * - Work ahead: parties take turns. One whose work stands in the queue is taken to go on, so it gets a turn for each piece
 *   that the own party has waiting, and one for the new piece; another counts with what it has waiting, but for no more
 *   turns. The other class of parties gets every second slot while it has work.
 * - Rate: that of recent claims while slots were full and work waited. Until that is measured, the number waiting divided
 *   by the age of the oldest (Little's law): a newcomer waits about as long as the oldest has.
 * - After a time without a claim, at most 3 in that time. So a collapse shows at once, yet a few are still let in as
 *   probes, once the queue has drained and nothing is ahead of them.
 *
 * Forgets everything from when no queue stood or slots were free: a refusal rests on the queue as it stands now.
 */
export class LoadEstimate {
  #latest: KindLoad | undefined;
  /** The reads of the present interval of full slots in which `claimed` had moved, oldest first. */
  #steps: { at: number; claimed: number }[] = [];
  #serviceMs = FIRST_SERVICE_MS;

  /** Checks whether newcomers may have to be refused, so that the queue needs watching. */
  get isStrained(): boolean {
    return this.#latest !== undefined && (this.#latest.workers === 0 || isStanding(this.#latest));
  }

  /** Updates the estimate with what was read. */
  observe(load: KindLoad): void {
    const before = this.#latest;
    this.#latest = load;
    // The sum is over live workers: it jumps when one starts or ends.
    const isComparable = before?.workers === load.workers && load.claimed >= before.claimed;
    if (!isComparable || !isStanding(load) || !isFull(load)) this.#steps = [];
    else this.#measure(load.at, load.claimed);
  }

  /** Updates the average service time with that of an answer. */
  served(ms: number): void {
    this.#serviceMs += SERVICE_WEIGHT * (ms - this.#serviceMs);
  }

  /**
   * Amount of a party's work that may wait for its next piece to be answered within that time: Infinity while no queue stands
   * or slots are free, 0 without a worker. Slots that are free although work waits are kept from parties with their full
   * share, so they are free for a party with nothing queued only.
   */
  mostQueued(withinMs: number, now: number): number {
    if (this.answerMs(0, now) > withinMs) return 0;
    const latest = this.#latest;
    if (latest === undefined || this.answerMs(Number.MAX_SAFE_INTEGER, now) <= withinMs)
      return Number.POSITIVE_INFINITY;
    // The estimate grows with what is queued: the largest number that fits is found by halving.
    let [fits, exceeds] = [0, Math.ceil(withinMs * this.#perMs(latest)) + 1];
    while (exceeds - fits > 1) {
      const middle = Math.floor((fits + exceeds) / 2);
      if (this.answerMs(middle, now) <= withinMs) fits = middle;
      else exceeds = middle;
    }
    return fits + 1;
  }

  /** Milliseconds until the next piece of a party with so much queued would be answered; Infinity without a worker. */
  answerMs(own: number, now: number): number {
    const latest = this.#latest;
    if (latest === undefined || now - latest.at > STALE_MS) return 0;
    if (latest.workers === 0) return Number.POSITIVE_INFINITY;
    if (!isStanding(latest) || !isFull(latest)) return 0;
    if (own === 0 && latest.running < latest.slots) return 0;
    const others = Math.max(0, latest.standing - (own > 0 ? 1 : 0));
    let upToIt = (own + 1) * (1 + others);
    for (const queued of latest.queues) upToIt += Math.min(queued, own + 1);
    return (upToIt + Math.min(latest.others, upToIt)) / this.#perMs(latest) + this.#serviceMs;
  }

  #measure(at: number, claimed: number): void {
    const windowMs = Math.max(WINDOW_MIN_MS, Math.min(WINDOW_MAX_MS, WINDOW_SERVICES * this.#serviceMs));
    this.#steps = this.#steps.filter((step) => at - step.at <= windowMs);
    const latest = this.#steps.at(-1);
    // Before the first claim of an interval there is nothing to measure: the span starts at the last read without one.
    if (latest?.claimed === claimed && this.#steps.length === 1) this.#steps = [];
    if (latest?.claimed !== claimed || this.#steps.length === 0) this.#steps.push({ at, claimed });
  }

  #perMs({ queued, oldestMs, lastClaimMs }: KindLoad): number {
    const [first] = this.#steps;
    const last = this.#steps.at(-1);
    const isMeasured = first !== undefined && last !== undefined && last.at - first.at >= SPAN_MIN_MS;
    const perMs = isMeasured
      ? (last.claimed - first.claimed) / (last.at - first.at)
      : Math.max(1, queued) / oldestMs;
    const silentMs = lastClaimMs ?? 0;
    const isSilent = silentMs > Math.max(SILENT_MIN_MS, SILENT_SERVICES * this.#serviceMs);
    return isSilent ? Math.min(perMs, UNSEEN / silentMs) : perMs;
  }
}

function isStanding({ oldestMs }: KindLoad): boolean {
  return oldestMs >= STANDING_MS;
}

function isFull({ running, slots }: KindLoad): boolean {
  return running > 0 && running >= FULL_SHARE * slots;
}
