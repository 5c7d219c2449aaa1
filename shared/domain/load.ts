/** What an ingress knows of the queue, as the leader published it. */
export interface QueueSnapshot {
  /** Milliseconds of this process's steady clock when it was read. */
  at: number;
  /** How old it was then, by the database's clock. */
  ageMs: number;
  /** Work that waits, by party (app or account). */
  queuedByParty: Map<string, number>;
  /** For how long the oldest has waited; 0 when nothing waits. */
  oldestMs: number;
  /** Work taken by the living workers since each started. It comes with their heartbeats, so it moves in steps of half a second. */
  claimed: number;
  /** Since any work that still runs was claimed last; null when nothing runs. */
  lastClaimMs: number | null;
  running: number;
  /** Living worker processes of the pool, and their slots in all. */
  workers: number;
  slots: number;
}

/** An older snapshot comes from a leader that died: it says nothing. */
const STALE_MS = 2000;
/** A queue whose oldest is younger is only on its way through. */
const STANDING_MS = 150;
/** No party gets all slots, so all that one may have are taken before all are. With fewer taken, what waits waits for another reason. */
const FULL_SHARE = 0.5;
/** What the service takes, until one was measured. */
const FIRST_SERVICE_MS = 500;
const SERVICE_WEIGHT = 0.1;
/** The rate is measured over so many services and at least so long, so that bursts of claims even out. */
const WINDOW_SERVICES = 4;
const WINDOW_MIN_MS = 2000;
const WINDOW_MAX_MS = 10_000;
/** Shorter spans measure the steps of the heartbeats. */
const SPAN_MIN_MS = 500;
/** Slots that were filled together fall free together: no claim for so many services, and at least so long, is a collapse. */
const SILENT_SERVICES = 1.25;
const SILENT_MIN_MS = 500;
/** The rule of three: at a higher rate than 3 in such a time there is 95 % certainty to see one. */
const UNSEEN = 3;

/**
 * Estimates how long a new piece of work would take until it is answered: what goes before it, by what the workers take.
 *
 * - What goes before it: parties take turns, so of each other party only as many as its own party already has waiting, and one.
 * - What they take: what they took lately while their slots were full and work waited. Until that was measured, what
 *   waits divided by the age of the oldest (Little's law): a newcomer at the end of the queue waits about as long as the oldest.
 * - When no claim was seen for a while, at most 3 in that time: so a collapse shows at once, and a few are still let in to
 *   probe, since nothing else goes before them when the queue is gone.
 *
 * Nothing is remembered of a time when no queue stood or slots were free: a refusal rests on what stands in the queue now.
 */
export class LoadEstimate {
  #latest: QueueSnapshot | undefined;
  /** What the latest snapshot counted, and what joined since. */
  #queued = new Map<string, number>();
  /** Snapshots of the present spell of full slots in which `claimed` had moved, oldest first. */
  #steps: { at: number; claimed: number }[] = [];
  #serviceMs = FIRST_SERVICE_MS;

  /** Whether newcomers may have to be refused, so that the queue needs watching. */
  get isStrained(): boolean {
    return this.#latest !== undefined && (this.#latest.workers === 0 || isStanding(this.#latest));
  }

  /** Takes a snapshot in. */
  observe(snapshot: QueueSnapshot): void {
    const before = this.#latest;
    this.#latest = snapshot;
    this.#queued = new Map(snapshot.queuedByParty);
    // The sum is over the living: it jumps when a worker comes or goes.
    const isComparable = before?.workers === snapshot.workers && snapshot.claimed >= before.claimed;
    if (!isComparable || !isStanding(snapshot) || !isFull(snapshot) || snapshot.ageMs > STALE_MS)
      this.#steps = [];
    else this.#measure(snapshot.at - snapshot.ageMs, snapshot.claimed);
  }

  /** Counts work that joined the queue since the latest snapshot. */
  joined(party: string): void {
    this.#queued.set(party, (this.#queued.get(party) ?? 0) + 1);
  }

  /** Learns from an answer how long the work itself takes. */
  served(ms: number): void {
    this.#serviceMs += SERVICE_WEIGHT * (ms - this.#serviceMs);
  }

  /**
   * Milliseconds until a party's next piece of work would be answered; Infinity without a worker. 0 while no queue stands,
   * slots are free, or what is known is too old.
   */
  answerMs(party: string, now: number): number {
    const latest = this.#latest;
    if (latest === undefined || latest.ageMs + now - latest.at > STALE_MS) return 0;
    if (latest.workers === 0) return Number.POSITIVE_INFINITY;
    if (!isStanding(latest) || !isFull(latest)) return 0;
    const own = this.#queued.get(party) ?? 0;
    let upToIt = 1;
    for (const queued of this.#queued.values()) upToIt += Math.min(queued, own + 1);
    return upToIt / this.#perMs(latest) + this.#serviceMs;
  }

  #measure(at: number, claimed: number): void {
    const windowMs = Math.max(WINDOW_MIN_MS, Math.min(WINDOW_MAX_MS, WINDOW_SERVICES * this.#serviceMs));
    this.#steps = this.#steps.filter((step) => at - step.at <= windowMs);
    const latest = this.#steps.at(-1);
    // Before the first claim of a spell there is nothing to measure: the span starts at the last look without one.
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
