import type { Pool } from 'pg';
import {
  type Claim,
  type ClaimResult,
  type ClaimTerms,
  type Flow,
  queuedFlows,
} from '../../shared/db/stores/work/claim.ts';
import type { Log } from '../../shared/log.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';
import { DelayedCall } from '../../shared/timing/later.ts';
import type { NextClaim } from '../../shared/work/completion.ts';
import type { Kinds } from '../../shared/work/kind.ts';
import { type ClaimRequest, FairOrder } from './fair-order.ts';

/** Interval at which a worker looks at the queue, since wake-ups may be lost. */
const LOOK_EVERY_MS = 1000;
/** Delay before claiming again if nothing was claimed because other transactions had locked the rows. */
const BLOCKED_RETRY_MS = 50;
/** Delay after a failed claim, or while claims are not allowed. */
const FAILED_RETRY_MS = 500;
/** A pool with more running attempts than this counts as busy. */
const FEW_ATTEMPTS_MAX = 8;

export interface PoolSteps {
  terms: Omit<ClaimTerms, 'asks' | 'slots'>;
  claim(terms: ClaimTerms): Promise<ClaimResult>;
  /** Returns false while the pool is paused, and shortly after a database outage. */
  mayClaim(): boolean;
  /**
   * Runs claimed work to its end; never rejects. `freeSlot` gives the slot back when the work only waits for its parts.
   */
  attempt(claim: Claim, freeSlot: () => void): Promise<void>;
  /** Called when a claim failed but may have been committed. */
  claimLost(): void;
  log: Log;
}

/**
 * Runs queued work in a limited number of slots, which apps and accounts share fairly. Claims work whenever work is
 * announced or a slot becomes free.
 */
export class WorkerPool {
  readonly #order: FairOrder;
  readonly #steps: PoolSteps;
  readonly #holders = new Map<string, Flow>();
  readonly #fill = new Coalescer(() => this.#claimWhileFree());
  readonly #fillLater = new DelayedCall(() => void this.#fill.run());
  #claimedCount = 0;
  #isClosed = false;

  constructor(slots: number, kinds: Kinds, steps: PoolSteps) {
    this.#order = new FairOrder(slots, kinds);
    this.#steps = steps;
  }

  get slots(): number {
    return this.#order.slots;
  }

  get free(): number {
    return this.#order.free;
  }

  get kinds(): string[] {
    return this.#order.kinds;
  }

  /** Number of rows claimed since the start. */
  get claimed(): number {
    return this.#claimedCount;
  }

  /** True if work waits for a slot or many attempts run. Then it pays to end several attempts in one statement. */
  get isBusy(): boolean {
    return this.#order.isReady || this.#holders.size > FEW_ATTEMPTS_MAX;
  }

  /** Claims at once if a slot may be used for this work; otherwise when a slot becomes free. */
  noteQueued(flows: readonly Flow[]): void {
    if (this.#isClosed || flows.length === 0) return;
    for (const flow of flows) this.#order.noteQueued(flow);
    void this.#fill.run();
  }

  /** Makes the next claims search the whole queue, not only new rows. */
  noteLook(flows: readonly Flow[]): void {
    this.#order.refresh();
    this.noteQueued(flows);
  }

  /**
   * Returns a claim for the slots of the attempts in `ended`, to run in the statement that ends them. Returns undefined
   * if nothing may be claimed now, or another claim is running.
   */
  nextAfter(ended: readonly Pick<Claim, 'id' | 'attempt'>[]): NextClaim | undefined {
    if (!this.#order.isReady || this.#isClosed || this.#fill.isRunning || !this.#steps.mayClaim())
      return undefined;
    const slots = ended.filter((one) => this.#vacate(one)).length;
    const asks = this.#order.ask(slots);
    if (asks.length === 0) return undefined;
    return {
      ...this.#termsOf(asks),
      onClaimed: (claimed) => {
        this.#start(asks, claimed);
        void this.#fill.run();
      },
      onLost: () => this.#noteLost(asks),
    };
  }

  /** Waits for a running claim, except a claim in a statement that ends attempts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#fill.run();
  }

  async #claimWhileFree(): Promise<void> {
    while (await this.#claim());
  }

  /** Resolves with whether another claim may find more work. */
  async #claim(): Promise<boolean> {
    if (this.#isClosed) return false;
    if (!this.#steps.mayClaim()) {
      if (this.#order.isReady) this.#fillLater.callWithin(jitter(FAILED_RETRY_MS));
      return false;
    }
    const asks = this.#order.ask();
    if (asks.length === 0) return false;
    try {
      this.#start(asks, await this.#steps.claim(this.#termsOf(asks)));
      return true;
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not claim');
      this.#noteLost(asks);
      return false;
    }
  }

  #termsOf(asks: readonly ClaimRequest[]): ClaimTerms {
    return { ...this.#steps.terms, asks, slots: asks.reduce((sum, { reserved }) => sum + reserved, 0) };
  }

  #start(asks: readonly ClaimRequest[], { claims, left }: ClaimResult): void {
    const blocked = this.#order.noteAnswer(asks, claims, left);
    if (blocked.length > 0) setTimeout(() => this.noteQueued(blocked), jitter(BLOCKED_RETRY_MS)).unref();
    this.#claimedCount += claims.length;
    for (const claim of claims) void this.#run(claim);
  }

  #noteLost(asks: readonly ClaimRequest[]): void {
    this.#steps.claimLost();
    this.#order.noteAnswer(asks, [], asks);
    setTimeout(() => this.noteQueued(asks), jitter(FAILED_RETRY_MS)).unref();
  }

  async #run(claim: Claim): Promise<void> {
    // The attempt may already hold a slot: released work is claimed again under the same attempt number, and so is work
    // whose claim was lost in a crash of the database.
    this.#vacate(claim);
    const flow = { kind: claim.kind, party: claim.party };
    this.#holders.set(attemptKey(claim), flow);
    const freeSlot = (): void => {
      // Slots that become free in one turn of the event loop share a claim.
      if (this.#vacate(claim, flow) && this.#order.isReady) this.#fillLater.callWithin(0);
    };
    await this.#steps.attempt(claim, freeSlot);
    freeSlot();
  }

  /** Gives a slot back. Returns false if the attempt holds no slot, or if a later run of the attempt holds it. */
  #vacate(
    attempt: Pick<Claim, 'id' | 'attempt'>,
    flow: Flow | undefined = this.#holders.get(attemptKey(attempt)),
  ): boolean {
    const name = attemptKey(attempt);
    if (flow === undefined || this.#holders.get(name) !== flow) return false;
    this.#holders.delete(name);
    this.#order.release(flow);
    return true;
  }
}

/** Searches the queue for work whose announcement this process missed: once a second, and whenever `look` is called. */
export class QueuePoller {
  readonly #pool: Pool;
  readonly #slots: readonly WorkerPool[];
  readonly #looks: Repetition;
  readonly #coalesced = new Coalescer(() => this.#look());
  #answeredAt = performance.now();

  constructor(pool: Pool, slots: readonly WorkerPool[], log: Log) {
    this.#pool = pool;
    this.#slots = slots;
    const onError = (error: unknown) => log.warn({ err: error }, 'could not look for queued work');
    this.#looks = every(LOOK_EVERY_MS, () => this.look(), { onError });
  }

  get silentMs(): number {
    return performance.now() - this.#answeredAt;
  }

  /** Calls during a search share the next search. */
  look(): Promise<void> {
    return this.#coalesced.run();
  }

  close(): Promise<void> {
    return this.#looks.stop();
  }

  async #look(): Promise<void> {
    const kinds = this.#slots.flatMap((slots) => slots.kinds);
    const flows = kinds.length === 0 ? [] : await queuedFlows(this.#pool, kinds);
    this.#answeredAt = performance.now();
    for (const slots of this.#slots) slots.noteLook(flows);
  }
}

function attemptKey({ id, attempt }: Pick<Claim, 'id' | 'attempt'>): string {
  return `${id}/${attempt}`;
}

/** Randomizes a delay, so that workers that competed for a row are unlikely to do so again. */
function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}
