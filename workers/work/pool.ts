import { setImmediate } from 'node:timers/promises';
import type { Claim, Claimed, Room } from '../../shared/db/stores/work/claim.ts';
import { roomOf } from '../../shared/domain/share.ts';
import type { Log } from '../../shared/log.ts';

/** Delay before the next claim after one that found only locked rows. */
const CONTENDED_MS = 50;
/** Delay after a claim that failed, or found only work that this process may not take yet. */
const FAILED_MS = 500;
/** While waiting work may not use the free slots: how often a ticket may make it look for another party's work. */
const LOOK_FOR_OTHERS_MS = 20;

export interface PoolSteps {
  claim(room: Room): Promise<Claimed>;
  /** False for a moment after a database outage, so that owners reclaim their work first, and while the pool is paused. */
  mayClaim(): boolean;
  /** Performs one claim to its end; never rejects. `freeSlot` gives its slot back while it only waits. */
  attempt(claim: Claim, freeSlot: () => void): Promise<void>;
  /** A claim failed, but may have taken effect. */
  claimLost(): void;
  /** Queues a ticket for another worker: there is more work than this one can take. */
  passOn(): void;
  log: Log;
}

/**
 * The slots of one pool in this process. A ticket, a wake-up, or a slot that becomes free while work is known to wait,
 * makes it claim the first work in the fair order, until no slot is free or no waiting work may be taken. No slot stays
 * free while work waits for it.
 */
export class WorkerPool {
  readonly slots: number;
  readonly #steps: PoolSteps;
  readonly #held = new Map<string, number>();
  #inHand = 0;
  #claimed = 0;
  /** More work waits, as of the last claim, or of what was heard since it began. */
  #more = false;
  #heard = false;
  #passedOn = false;
  /** The last claim found only rows that other processes were claiming: these have heard of them. */
  #contended = false;
  #filling: Promise<void> | undefined;
  /** What the claim in flight may have missed: a slot that became free, a ticket; and parties that queued work. */
  #fillAgain = false;
  readonly #wokenBy = new Set<string>();
  #closed = false;
  #claimedAt = 0;
  #later: { timer: NodeJS.Timeout; at: number } | undefined;
  /** Resolves when the next slot becomes free. */
  #slotFree = Promise.withResolvers<void>();

  constructor(slots: number, steps: PoolSteps) {
    this.slots = slots;
    this.#steps = steps;
  }

  /** Pieces of work claimed since the start. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Whether more work waits than the slots can take, as far as this process knows. */
  get isBehind(): boolean {
    return this.#more;
  }

  /**
   * Handles a ticket. Resolves when this process can use another one: while work is known to wait, each slot that
   * becomes free claims without a ticket, so tickets are left to other processes.
   */
  async take(): Promise<void> {
    this.#hear();
    await this.#fill();
    while (!this.#closed && (this.#inHand >= this.slots || this.#more)) {
      const restMs = this.#claimedAt + LOOK_FOR_OTHERS_MS - performance.now();
      if (this.#inHand < this.slots && restMs <= 0) return;
      await (this.#inHand < this.slots ? slotOrTime(this.#slotFree.promise, restMs) : this.#slotFree.promise);
      await this.#filling;
    }
  }

  /**
   * These parties have queued work: claims at once if a slot is free for one of them, or else as soon as any slot is. Other
   * processes hear of it as well.
   */
  wake(parties: readonly string[]): void {
    if (this.#closed || parties.length === 0) return;
    this.#hear();
    // The claim in flight takes slots: only after it is it known who has room.
    if (this.#filling !== undefined) for (const party of parties) this.#wokenBy.add(party);
    else if (parties.some((party) => this.#hasRoom(party))) void this.#fill();
  }

  #hasRoom(party: string): boolean {
    return roomOf(this.#held.get(party) ?? 0, this.slots - this.#inHand, this.slots) > 0;
  }

  #hear(): void {
    this.#more = true;
    this.#heard = true;
  }

  /** Claims nothing more. Resolves when a claim in flight has been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#freed();
    await this.#filling;
  }

  /** One claim at a time, the first not before `from`. Requests that arrive meanwhile share one more. */
  #fill(from?: Promise<void>): Promise<void> {
    if (this.#filling !== undefined) this.#fillAgain = true;
    this.#filling ??= this.#claimWhileFree(from).finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #claimWhileFree(from?: Promise<void>): Promise<void> {
    await from;
    do {
      while (this.#inHand < this.slots && !this.#closed) {
        if (!(await this.#claim())) break;
      }
    } while (this.#isAskedAgain() && !this.#closed && this.#inHand < this.slots);
    if (this.#more && !this.#contended && !this.#passedOn && !this.#closed) this.#steps.passOn();
    this.#passedOn = this.#more;
  }

  #isAskedAgain(): boolean {
    return this.#fillAgain || [...this.#wokenBy].some((party) => this.#hasRoom(party));
  }

  /** Claims once; resolves with whether the next claim would take something too. */
  async #claim(): Promise<boolean> {
    this.#fillAgain = false;
    this.#wokenBy.clear();
    if (!this.#steps.mayClaim()) {
      this.#fillLater(FAILED_MS);
      return false;
    }
    try {
      this.#heard = false;
      const { claims, more, takeable } = await this.#steps.claim(this.#room());
      this.#more = more || this.#heard;
      this.#claimedAt = performance.now();
      this.#claimed += claims.length;
      for (const claim of claims) void this.#run(claim);
      // Rows that it might have taken were locked, so retry soon. Parties with their full share, and those that have one
      // piece running at a time, go on when a slot becomes free.
      this.#contended = claims.length === 0 && takeable;
      if (claims.length === 0 && more) this.#fillLater(takeable ? CONTENDED_MS : FAILED_MS);
      return takeable && claims.length > 0;
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not claim');
      this.#steps.claimLost();
      this.#fillLater(FAILED_MS);
      return false;
    }
  }

  /** With jitter, so that workers that contended for a row do not contend again. Once, however often it is asked for. */
  #fillLater(ms: number): void {
    const delayMs = ms * (0.5 + Math.random());
    const at = performance.now() + delayMs;
    if (this.#later !== undefined && this.#later.at <= at) return;
    clearTimeout(this.#later?.timer);
    const timer = setTimeout(() => {
      this.#later = undefined;
      void this.#fill();
    }, delayMs);
    this.#later = { timer, at };
  }

  #room(): Room {
    const free = this.slots - this.#inHand;
    const ofServed = new Map(
      [...this.#held].map(([party, held]) => [party, roomOf(held, free, this.slots)] as const),
    );
    return { slots: free, ofServed, ofOthers: roomOf(0, free, this.slots) };
  }

  async #run(claim: Claim): Promise<void> {
    const leave = this.#occupy(claim.party);
    const freeEarly = () => {
      // Work that waits for its parts has just admitted them.
      this.#hear();
      leave();
    };
    await this.#steps.attempt(claim, freeEarly);
    leave();
  }

  /** Takes a slot for a party. Returns what gives it back, once. */
  #occupy(party: string): () => void {
    this.#inHand += 1;
    this.#held.set(party, (this.#held.get(party) ?? 0) + 1);
    let isOccupied = true;
    return () => {
      if (!isOccupied) return;
      isOccupied = false;
      this.#inHand -= 1;
      const held = (this.#held.get(party) ?? 1) - 1;
      if (held === 0) this.#held.delete(party);
      else this.#held.set(party, held);
      // Before the waiter for a free slot looks again. Slots that become free in one turn of the event loop share a claim.
      if (this.#more) void this.#fill(setImmediate());
      this.#freed();
    };
  }

  #freed(): void {
    this.#slotFree.resolve();
    this.#slotFree = Promise.withResolvers<void>();
  }
}

async function slotOrTime(slotFree: Promise<void>, ms: number): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, ms);
  await Promise.race([slotFree, timer.promise]);
  clearTimeout(timeout);
}
