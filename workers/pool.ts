import type { Claim, Room } from '../shared/db/stores/work/claim.ts';
import { claimable, roomOf } from '../shared/domain/share.ts';
import type { Log } from '../shared/log.ts';

/** How soon a claim is repeated that found only rows which somebody else had locked. */
const CONTENDED_MS = 50;
const FAILED_MS = 500;

export interface PoolSteps {
  claim(room: Room): Promise<{ claims: Claim[]; more: boolean }>;
  /** False for a moment after an outage. */
  mayClaim(): boolean;
  /** Runs one claim to its end; never rejects. */
  attempt(claim: Claim): Promise<void>;
  /** A claim may have taken effect although its answer was lost. */
  claimLost(): void;
  /** Tells another worker that there is more work than this one can take. */
  passOn(): void;
  log: Log;
}

/**
 * The slots of one pool in this process. A ticket, or a slot that falls free while work is known to wait, makes it claim
 * what is first in the fair order, until no slot is free or nothing waits that it may take: a free slot never waits
 * while work waits.
 */
export class WorkerPool {
  readonly slots: number;
  readonly #steps: PoolSteps;
  readonly #held = new Map<string, number>();
  #inHand = 0;
  #claimed = 0;
  /** Work waits, as far as this process knows. */
  #more = false;
  #passedOn = false;
  #filling: Promise<void> | undefined;
  #fillAgain = false;
  #closed = false;
  #slotFree: PromiseWithResolvers<void> | undefined;

  constructor(slots: number, steps: PoolSteps) {
    this.slots = slots;
    this.#steps = steps;
  }

  /** Work claimed since the start. */
  get claimed(): number {
    return this.#claimed;
  }

  /** A ticket has come. Resolves when this process can use another one: it has claimed, and a slot is free. */
  async take(): Promise<void> {
    this.#more = true;
    await this.#fill();
    while (this.#inHand >= this.slots && !this.#closed) {
      this.#slotFree ??= Promise.withResolvers<void>();
      await this.#slotFree.promise;
    }
  }

  /** Claims nothing more. Resolves when a claim under way has been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#freed();
    await this.#filling;
  }

  /** One claim at a time; what is asked for meanwhile is answered by one more. */
  #fill(): Promise<void> {
    if (this.#filling !== undefined) this.#fillAgain = true;
    this.#filling ??= this.#claimWhileFree().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #claimWhileFree(): Promise<void> {
    do {
      this.#fillAgain = false;
      while (this.#inHand < this.slots && !this.#closed) {
        const took = await this.#claim();
        if (!took || !this.#more) break;
      }
    } while (this.#fillAgain && !this.#closed && this.#inHand < this.slots);
    if (this.#more && !this.#passedOn && !this.#closed) this.#steps.passOn();
    this.#passedOn = this.#more;
  }

  /** Whether it took anything. */
  async #claim(): Promise<boolean> {
    if (!this.#steps.mayClaim()) {
      this.#fillLater(FAILED_MS);
      return false;
    }
    try {
      const room = this.#room();
      const { claims, more } = await this.#steps.claim(room);
      this.#more = more;
      this.#claimed += claims.length;
      for (const claim of claims) void this.#run(claim);
      // A party that has all that it may is served when it gives a slot back; anything else was locked for a moment.
      const isFull = [...room.ofServed.values()].some((left) => left === 0);
      if (claims.length === 0 && more) this.#fillLater(isFull ? FAILED_MS : CONTENDED_MS);
      return claims.length > 0;
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not claim');
      this.#steps.claimLost();
      this.#fillLater(FAILED_MS);
      return false;
    }
  }

  /** By chance a bit earlier or later, so that workers that met at a row do not meet again. */
  #fillLater(ms: number): void {
    setTimeout(() => void this.#fill(), ms * (0.5 + Math.random()));
  }

  #room(): Room {
    const free = this.slots - this.#inHand;
    const ofServed = new Map(
      [...this.#held].map(([party, held]) => [party, roomOf(held, free, this.slots)] as const),
    );
    return { slots: claimable(free, this.slots), ofServed, ofOthers: roomOf(0, free, this.slots) };
  }

  async #run(claim: Claim): Promise<void> {
    this.#inHand += 1;
    this.#held.set(claim.party, (this.#held.get(claim.party) ?? 0) + 1);
    await this.#steps.attempt(claim);
    this.#inHand -= 1;
    const held = (this.#held.get(claim.party) ?? 1) - 1;
    if (held === 0) this.#held.delete(claim.party);
    else this.#held.set(claim.party, held);
    this.#freed();
    if (this.#more) void this.#fill();
  }

  #freed(): void {
    this.#slotFree?.resolve();
    this.#slotFree = undefined;
  }
}
