/** The state of a pool's queue, as the leader published it. */
export interface QueueSnapshot {
  /** When it was read, by `performance.now()`. */
  at: number;
  /** How old it was then, by the database's clock. */
  ageMs: number;
  /** Work that waits, by party (app or account). */
  queuedByParty: Map<string, number>;
  /** How long the oldest has waited; 0 when nothing waits. */
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

/** An older snapshot comes from a leader that died, and is ignored. */
const STALE_MS = 2000;
/** Only a queue whose oldest has waited this long is standing; others are just passing through. */
const STANDING_MS = 150;
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
 * - Work ahead: parties take turns, so each other party counts with at most one more than its own party has waiting.
 * - Rate: that of recent claims while slots were full and work waited. Until that is measured, the number waiting divided
 *   by the age of the oldest (Little's law): a newcomer waits about as long as the oldest has.
 * - After a time without a claim, at most 3 in that time. So a collapse shows at once, yet a few are still let in as
 *   probes, once the queue has drained and nothing is ahead of them.
 *
 * Forgets everything from when no queue stood or slots were free: a refusal rests on the queue as it stands now.
 */
export class LoadEstimate {
  #latest: QueueSnapshot | undefined;
  /** By party: what the latest snapshot counted, and what has joined since. */
  #queued = new Map<string, number>();
  /** Parties that had nothing queued and have joined since the latest snapshot: each may take a free slot. */
  #newcomers = 0;
  /** Those snapshots of the present interval of full slots in which `claimed` had moved, oldest first. */
  #steps: { at: number; claimed: number }[] = [];
  #serviceMs = FIRST_SERVICE_MS;

  /** Whether newcomers may have to be refused, so that the queue needs watching. */
  get isStrained(): boolean {
    return this.#latest !== undefined && (this.#latest.workers === 0 || isStanding(this.#latest));
  }

  /** Updates the estimate with a snapshot. */
  observe(snapshot: QueueSnapshot): void {
    const before = this.#latest;
    this.#latest = snapshot;
    this.#queued = new Map(snapshot.queuedByParty);
    this.#newcomers = 0;
    // The sum is over live workers: it jumps when one starts or ends.
    const isComparable = before?.workers === snapshot.workers && snapshot.claimed >= before.claimed;
    if (!isComparable || !isStanding(snapshot) || !isFull(snapshot) || snapshot.ageMs > STALE_MS)
      this.#steps = [];
    else this.#measure(snapshot.at - snapshot.ageMs, snapshot.claimed);
  }

  /** Counts work that joined the queue since the latest snapshot. */
  joined(party: string): void {
    const own = this.#queued.get(party) ?? 0;
    if (own === 0) this.#newcomers += 1;
    this.#queued.set(party, own + 1);
  }

  /** Updates the average service time with that of an answer. */
  served(ms: number): void {
    this.#serviceMs += SERVICE_WEIGHT * (ms - this.#serviceMs);
  }

  /**
   * Milliseconds until a party's next piece of work would be answered; Infinity without a worker. 0 while no queue stands,
   * slots are free, or the latest snapshot is stale. Slots that are free although work waits are kept from parties with
   * their full share, so they are free for a party with nothing queued only.
   */
  answerMs(party: string, now: number): number {
    const latest = this.#latest;
    if (latest === undefined || latest.ageMs + now - latest.at > STALE_MS) return 0;
    if (latest.workers === 0) return Number.POSITIVE_INFINITY;
    if (!isStanding(latest) || !isFull(latest)) return 0;
    const own = this.#queued.get(party) ?? 0;
    if (own === 0 && latest.running + this.#newcomers < latest.slots) return 0;
    let upToIt = 1;
    for (const queued of this.#queued.values()) upToIt += Math.min(queued, own + 1);
    return upToIt / this.#perMs(latest) + this.#serviceMs;
  }

  #measure(at: number, claimed: number): void {
    const windowMs = Math.max(WINDOW_MIN_MS, Math.min(WINDOW_MAX_MS, WINDOW_SERVICES * this.#serviceMs));
    this.#steps = this.#steps.filter((step) => at - step.at <= windowMs);
    const latest = this.#steps.at(-1);
    // Before the first claim of an interval there is nothing to measure: the span starts at the last snapshot without one.
    if (latest?.claimed === claimed && this.#steps.length === 1) this.#steps = [];
    if (latest?.claimed !== claimed || this.#steps.length === 0) this.#steps.push({ at, claimed });
  }

  #perMs({ queuedByParty, oldestMs, lastClaimMs }: QueueSnapshot): number {
    const [first] = this.#steps;
    const last = this.#steps.at(-1);
    const isMeasured = first !== undefined && last !== undefined && last.at - first.at >= SPAN_MIN_MS;
    const perMs = isMeasured
      ? (last.claimed - first.claimed) / (last.at - first.at)
      : Math.max(1, sum(queuedByParty)) / oldestMs;
    const silentMs = lastClaimMs ?? 0;
    const isSilent = silentMs > Math.max(SILENT_MIN_MS, SILENT_SERVICES * this.#serviceMs);
    return isSilent ? Math.min(perMs, UNSEEN / silentMs) : perMs;
  }
}

function isStanding({ oldestMs }: QueueSnapshot): boolean {
  return oldestMs >= STANDING_MS;
}

function isFull({ running, slots }: QueueSnapshot): boolean {
  return running > 0 && running >= FULL_SHARE * slots;
}

function sum(counts: Map<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
