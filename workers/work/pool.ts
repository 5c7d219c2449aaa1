import type { Claim, Claimed, Flow } from '../../shared/db/stores/work/claim.ts';
import { Later } from '../../shared/later.ts';
import type { Log } from '../../shared/log.ts';
import type { Kinds } from '../../shared/work/kind.ts';
import { type Ask, FairOrder } from './fair-order.ts';

/** Delay before flows are asked for again whose rows others held. */
const BLOCKED_MS = 50;
/** Delay after a claim that failed, or while none may be made. */
const FAILED_MS = 500;

export interface PoolSteps {
  claim(asks: readonly Ask[], slots: number): Promise<Claimed>;
  /** False for a moment after a database outage, so that owners reclaim their work first, and while the pool is paused. */
  mayClaim(): boolean;
  /** Performs one claim to its end; never rejects. `freeSlot` gives its slot back while it only waits. */
  attempt(claim: Claim, freeSlot: () => void): Promise<void>;
  /** A claim failed, but may have taken effect. */
  claimLost(): void;
  log: Log;
}

/** A claim that a pool makes in a statement of others. */
export interface Next {
  asks: readonly Ask[];
  slots: number;
  took(claimed: Claimed): void;
  /** The statement failed, but may have taken effect. */
  lost(): void;
}

/**
 * The slots of one pool in this process. What is heard of queued work, or a slot that becomes free while work is known to
 * wait, makes it claim in the fair order, until no slot is free or no known work may be taken.
 */
export class WorkerPool {
  readonly #order: FairOrder;
  readonly #steps: PoolSteps;
  /** The attempts that hold a slot, with their flows. */
  readonly #holding = new Map<string, Flow>();
  readonly #fillLater = new Later(() => void this.#fill());
  #claimed = 0;
  #filling: Promise<void> | undefined;
  /** Something was heard, or a slot became free, that the claim in flight knows nothing of. */
  #fillAgain = false;
  #fillsSoon = false;
  #closed = false;

  /** `kinds` are those of the pool. */
  constructor(slots: number, kinds: Kinds, steps: PoolSteps) {
    this.#order = new FairOrder(slots, kinds);
    this.#steps = steps;
  }

  get slots(): number {
    return this.#order.slots;
  }

  /** The names of the kinds that it serves. */
  get kinds(): string[] {
    return this.#order.kinds;
  }

  /** Pieces of work claimed since the start. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Whether more work waits than the slots can take, as far as this process knows. */
  get isBehind(): boolean {
    return this.#order.isReady;
  }

  /** These flows have queued work: claims at once if a slot is free for one of them, or else as soon as any slot is. */
  heard(flows: readonly Flow[]): void {
    if (this.#closed || flows.length === 0) return;
    for (const flow of flows) this.#order.heard(flow);
    void this.#fill();
  }

  /** A look at the queue has found these flows. From now on claims look at all of each flow again, not only at what is new. */
  lookedAt(flows: readonly Flow[]): void {
    this.#order.refresh();
    this.heard(flows);
  }

  /**
   * A claim for the slots of these attempts, to be made in the statement that ends them. Undefined when nothing is known to
   * wait, or a claim is in flight anyway.
   */
  nextAfter(ended: readonly Pick<Claim, 'id' | 'attempt'>[]): Next | undefined {
    if (!this.#order.isReady || this.#closed || this.#filling !== undefined || !this.#steps.mayClaim())
      return undefined;
    const slots = ended.filter((one) => this.#vacate(one)).length;
    const asks = this.#order.ask(slots);
    if (asks.length === 0) return undefined;
    return {
      asks,
      slots,
      took: (claimed) => {
        this.#start(asks, claimed);
        void this.#fill();
      },
      lost: () => this.#lost(asks),
    };
  }

  /** Claims nothing more. Resolves when a claim in flight has been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#filling;
  }

  /** One claim at a time; requests that arrive meanwhile share one more. */
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
      while (await this.#claim());
    } while (this.#fillAgain);
  }

  /** Claims once; resolves with whether the next claim could take something too. */
  async #claim(): Promise<boolean> {
    if (this.#closed) return false;
    if (!this.#steps.mayClaim()) {
      if (this.#order.isReady) this.#fillLater.within(jittered(FAILED_MS));
      return false;
    }
    const slots = this.#order.free;
    const asks = this.#order.ask(slots);
    if (asks.length === 0) return false;
    try {
      this.#start(asks, await this.#steps.claim(asks, reservedFor(asks)));
      return true;
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not claim');
      this.#lost(asks);
      return false;
    }
  }

  /** Runs what was claimed. */
  #start(asks: readonly Ask[], { claims, left }: Claimed): void {
    const blocked = this.#order.answered(asks, claims, left);
    if (blocked.length > 0) setTimeout(() => this.heard(blocked), jittered(BLOCKED_MS)).unref();
    this.#claimed += claims.length;
    for (const claim of claims) void this.#run(claim);
  }

  #lost(asks: readonly Ask[]): void {
    this.#steps.claimLost();
    this.#order.answered(asks, [], asks);
    setTimeout(() => this.heard(asks), jittered(FAILED_MS)).unref();
  }

  async #run(claim: Claim): Promise<void> {
    this.#holding.set(nameOf(claim), { kind: claim.kind, party: claim.party });
    // Work that waits for its parts has just admitted them.
    await this.#steps.attempt(claim, () => this.#vacateAndFill(claim));
    this.#vacateAndFill(claim);
  }

  #vacateAndFill(attempt: Pick<Claim, 'id' | 'attempt'>): void {
    if (!this.#vacate(attempt) || !this.#order.isReady || this.#fillsSoon) return;
    // Slots that become free in one turn of the event loop share a claim.
    this.#fillsSoon = true;
    setImmediate(() => {
      this.#fillsSoon = false;
      void this.#fill();
    });
  }

  /** False if it holds no slot any more. */
  #vacate(attempt: Pick<Claim, 'id' | 'attempt'>): boolean {
    const name = nameOf(attempt);
    const flow = this.#holding.get(name);
    if (flow === undefined) return false;
    this.#holding.delete(name);
    this.#order.release(flow);
    return true;
  }
}

function reservedFor(asks: readonly Ask[]): number {
  return asks.reduce((sum, { reserved }) => sum + reserved, 0);
}

function nameOf({ id, attempt }: Pick<Claim, 'id' | 'attempt'>): string {
  return `${id}/${attempt}`;
}

/** So that workers that contended for a row do not contend again. */
function jittered(ms: number): number {
  return ms * (0.5 + Math.random());
}
