import { setImmediate } from 'node:timers/promises';
import type { Claim, Claimed, Room } from '../../shared/db/stores/work/claim.ts';
import { Later } from '../../shared/later.ts';
import type { Log } from '../../shared/log.ts';
import { type Slot, Slots } from './slots.ts';

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

/** A claim that a pool makes in a statement of others. */
export interface Next {
  room: Room;
  took(claimed: Claimed): void;
  /** The statement failed, but may have taken effect. */
  lost(): void;
}

/**
 * The slots of one pool in this process. A ticket, a wake-up, or a slot that becomes free while work is known to wait,
 * makes it claim the first work in the fair order, until no slot is free or no waiting work may be taken. No slot stays
 * free while work waits for it.
 */
export class WorkerPool {
  readonly #slots: Slots;
  readonly #steps: PoolSteps;
  #claimed = 0;
  /** More work waits, as of the last claim, or of what was heard since it began. */
  #more = false;
  /** How often it was heard that work waits. */
  #heard = 0;
  #passedOn = false;
  /** The last claim found only rows that other processes were claiming: these have heard of them. */
  #contended = false;
  #filling: Promise<void> | undefined;
  /** What the claim in flight may have missed: a slot that became free, a ticket; and parties that queued work. */
  #fillAgain = false;
  readonly #wokenBy = new Set<string>();
  #closed = false;
  #claimedAt = 0;
  readonly #fillLater = new Later(() => void this.#fill());
  /** Resolves when the next slot becomes free. */
  #slotFree = Promise.withResolvers<void>();

  constructor(slots: number, steps: PoolSteps) {
    this.#slots = new Slots(slots);
    this.#steps = steps;
  }

  get slots(): number {
    return this.#slots.count;
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
    while (!this.#closed && (this.#isFull || this.#more)) {
      const restMs = this.#claimedAt + LOOK_FOR_OTHERS_MS - performance.now();
      if (!this.#isFull && restMs <= 0) return;
      await (this.#isFull ? this.#slotFree.promise : slotOrTime(this.#slotFree.promise, restMs));
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
    else if (parties.some((party) => this.#slots.hasRoom(party))) void this.#fill();
  }

  /**
   * A claim for the slots of these attempts, to be made in the statement that ends them. Undefined when nothing is known to
   * wait, or a claim is in flight anyway.
   */
  nextAfter(ended: readonly Pick<Claim, 'id' | 'attempt'>[]): Next | undefined {
    if (!this.#more || this.#closed || this.#filling !== undefined || !this.#steps.mayClaim())
      return undefined;
    const slots = this.#slots.of(ended);
    if (slots.length === 0) return undefined;
    const heard = this.#heard;
    return {
      room: this.#slots.roomAfter(slots),
      took: (claimed) => {
        for (const slot of slots) this.#slots.vacate(slot);
        if (this.#start(claimed, heard) && !this.#isFull) void this.#fill();
        else this.#passRestOn();
        this.#freed();
      },
      lost: () => this.#steps.claimLost(),
    };
  }

  get #isFull(): boolean {
    return this.#slots.free <= 0;
  }

  #hear(): void {
    this.#more = true;
    this.#heard += 1;
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
      while (!this.#isFull && !this.#closed) {
        if (!(await this.#claim())) break;
      }
    } while (this.#isAskedAgain() && !this.#closed && !this.#isFull);
    this.#passRestOn();
  }

  #passRestOn(): void {
    if (this.#more && !this.#contended && !this.#passedOn && !this.#closed) this.#steps.passOn();
    this.#passedOn = this.#more;
  }

  #isAskedAgain(): boolean {
    return this.#fillAgain || [...this.#wokenBy].some((party) => this.#slots.hasRoom(party));
  }

  /** Claims once; resolves with whether the next claim would take something too. */
  async #claim(): Promise<boolean> {
    this.#fillAgain = false;
    this.#wokenBy.clear();
    if (!this.#steps.mayClaim()) {
      this.#fillLater.within(jittered(FAILED_MS));
      return false;
    }
    try {
      const heard = this.#heard;
      return this.#start(await this.#steps.claim(this.#slots.room()), heard);
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not claim');
      this.#steps.claimLost();
      this.#fillLater.within(jittered(FAILED_MS));
      return false;
    }
  }

  /** Runs what was claimed, knowing that `heard`; returns whether the next claim would take something too. */
  #start({ claims, more, takeable }: Claimed, heard: number): boolean {
    // Another claim may have been answered since this one began.
    if (more) this.#hear();
    else if (this.#heard === heard) this.#more = false;
    this.#claimedAt = performance.now();
    this.#claimed += claims.length;
    for (const claim of claims) void this.#run(claim);
    // Rows that it might have taken were locked, so retry soon. Parties with their full share, and those that have one
    // piece running at a time, go on when a slot becomes free.
    this.#contended = claims.length === 0 && takeable;
    if (claims.length === 0 && more) this.#fillLater.within(jittered(takeable ? CONTENDED_MS : FAILED_MS));
    return takeable && claims.length > 0;
  }

  async #run(claim: Claim): Promise<void> {
    const slot = this.#slots.occupy(claim);
    const vacateEarly = () => {
      // Work that waits for its parts has just admitted them.
      this.#hear();
      this.#vacate(slot);
    };
    await this.#steps.attempt(claim, vacateEarly);
    this.#vacate(slot);
  }

  #vacate(slot: Slot): void {
    if (!this.#slots.vacate(slot)) return;
    // Before the waiter for a free slot looks again. Slots that become free in one turn of the event loop share a claim.
    if (this.#more) void this.#fill(setImmediate());
    this.#freed();
  }

  #freed(): void {
    this.#slotFree.resolve();
    this.#slotFree = Promise.withResolvers<void>();
  }
}

/** So that workers that contended for a row do not contend again. */
function jittered(ms: number): number {
  return ms * (0.5 + Math.random());
}

async function slotOrTime(slotFree: Promise<void>, ms: number): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, ms);
  await Promise.race([slotFree, timer.promise]);
  clearTimeout(timeout);
}
