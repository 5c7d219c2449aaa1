import type { Pool } from 'pg';
import type { Heartbeat } from '../../shared/db/processes.ts';
import {
  type Claim,
  type ClaimResult,
  type ClaimTerms,
  type Flow,
  queuedFlows,
} from '../../shared/db/stores/work/claim.ts';
import type { Log } from '../../shared/log.ts';
import type { Job } from '../../shared/queue/queues.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import type { Repetition } from '../../shared/timing/every.ts';
import { DelayedCall } from '../../shared/timing/later.ts';
import type { Kinds } from '../../shared/work/kind.ts';
import { type ClaimRequest, FairOrder } from './fair-order.ts';

/**
 * Interval at which a worker looks at the queue, since jobs may be lost. At rest its heartbeats find work, and this
 * look is for faults of theirs.
 */
const LOOK_EVERY_MS = { busy: 1000, resting: 30_000 };
/** Interval at which a worker passes on jobs of which it takes nothing: while all are full, the jobs go round in vain. */
const PASS_WHOLE_EVERY_MS = 100;
/** Delay before claiming again if nothing was claimed because other transactions had locked the rows. */
const BLOCKED_RETRY_MS = 50;
/** Delay after a failed claim, or while claims are not allowed. */
const FAILED_RETRY_MS = 500;

export interface PoolSteps {
  terms: Omit<ClaimTerms, 'asks' | 'slots'>;
  claim(terms: ClaimTerms): Promise<ClaimResult>;
  /** Returns false while the pool is paused. */
  mayClaim(): boolean;
  /** Performs an attempt; never rejects. */
  attempt(claim: Claim): Promise<void>;
  /** Called when a claim failed but may have been committed. */
  claimLost(): void;
  /** Puts a job back into the queue. */
  passOn(job: Job): void;
  log: Log;
}

/**
 * Runs queued work in a limited number of slots, which apps and accounts share fairly. Claims work whenever work is
 * named by a job or a slot becomes free.
 */
export class WorkerPool {
  readonly #order: FairOrder;
  readonly #steps: PoolSteps;
  readonly #fill = new Coalescer(() => this.#claimWhileFree());
  readonly #fillLater = new DelayedCall(() => void this.#fill.run());
  #claimedCount = 0;
  #claimedAt = 0;
  /** Jobs taken since the latest claim began. */
  readonly #jobs: Job[] = [];
  /** Time of the latest job of which nothing found a slot, and that was passed on. */
  #passedOnAt = Number.NEGATIVE_INFINITY;
  #slotFreed = Promise.withResolvers<void>();
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

  /** Time since the latest claim while no slot is free; otherwise 0. */
  get stalledMs(): number {
    return this.free > 0 ? 0 : Math.round(performance.now() - this.#claimedAt);
  }

  /** Claims the work that a job names. Resolves once a slot is free, so that the next job is taken only then. */
  async take(job: Job): Promise<void> {
    if (this.#isClosed) return this.#steps.passOn(job);
    this.#jobs.push(job);
    this.noteQueued(job.work.map(({ party }) => ({ kind: job.kind, party })));
    while (this.free === 0 && !this.#isClosed) await this.#slotFreed.promise;
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

  /** Waits for a running claim. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#slotFreed.resolve();
    await this.#fill.run();
  }

  async #claimWhileFree(): Promise<void> {
    while (await this.#claim());
  }

  /** Resolves with whether another claim may find more work. */
  async #claim(): Promise<boolean> {
    const jobs = this.#jobs.splice(0);
    if (!this.#isClosed && !this.#steps.mayClaim()) {
      if (this.#order.isReady) this.#fillLater.callWithin(jitter(FAILED_RETRY_MS));
      return false;
    }
    const asks = this.#isClosed ? [] : this.#order.ask();
    const result = asks.length === 0 ? undefined : await this.#claimFor(asks);
    const claimedIds = new Set(result?.claims.map(({ id }) => id));
    for (const job of jobs) this.#passOnRest(job, claimedIds);
    return result !== undefined;
  }

  async #claimFor(asks: readonly ClaimRequest[]): Promise<ClaimResult | undefined> {
    const slots = asks.reduce((sum, { reserved }) => sum + reserved, 0);
    try {
      const result = await this.#steps.claim({ ...this.#steps.terms, asks, slots });
      this.#start(asks, result);
      return result;
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not claim');
      this.#steps.claimLost();
      this.#order.noteAnswer(asks, [], asks);
      setTimeout(() => this.noteQueued(asks), jitter(FAILED_RETRY_MS)).unref();
      return undefined;
    } finally {
      // A claim sets slots aside, so its answer may free some.
      this.#noteFree();
    }
  }

  #start(asks: readonly ClaimRequest[], { claims, left }: ClaimResult): void {
    const blocked = this.#order.noteAnswer(asks, claims, left);
    if (blocked.length > 0) setTimeout(() => this.noteQueued(blocked), jitter(BLOCKED_RETRY_MS)).unref();
    this.#claimedCount += claims.length;
    if (claims.length > 0) this.#claimedAt = performance.now();
    for (const claim of claims) void this.#run(claim);
  }

  /** Puts what found no slot at once into a new job, for an idle worker; rarely, if all workers seem busy. */
  #passOnRest({ kind, work, passedOn = false }: Job, claimedIds: ReadonlySet<string>): void {
    const rest = work
      .filter(({ party }) => this.#order.isWaiting({ kind, party }))
      .map(({ party, ids }) => ({ party, ids: ids.filter((id) => !claimedIds.has(id)) }))
      .filter(({ ids }) => ids.length > 0);
    const isWhole = !work.some(({ ids }) => ids.some((id) => claimedIds.has(id)));
    const now = performance.now();
    if (rest.length === 0 || (isWhole && (passedOn || now < this.#passedOnAt + PASS_WHOLE_EVERY_MS))) return;
    if (isWhole) this.#passedOnAt = now;
    this.#steps.passOn({ kind, work: rest, ...(isWhole && { passedOn: true }) });
  }

  #noteFree(): void {
    if (this.free === 0) return;
    this.#slotFreed.resolve();
    this.#slotFreed = Promise.withResolvers();
  }

  async #run(claim: Claim): Promise<void> {
    await this.#steps.attempt(claim);
    this.#order.release(claim);
    this.#noteFree();
    // Slots that become free in one turn of the event loop share a claim.
    if (this.#order.isReady) this.#fillLater.callWithin(0);
  }
}

/** Searches the queue, once a second unless the process rests, for work whose job was lost or went to another process. */
export class QueuePoller {
  readonly #pool: Pool;
  readonly #slots: readonly WorkerPool[];
  readonly #heartbeat: Pick<Heartbeat, 'awake' | 'rest'>;
  readonly #looks: Repetition;
  #answeredAt = performance.now();

  constructor(
    pool: Pool,
    slots: readonly WorkerPool[],
    heartbeat: Pick<Heartbeat, 'awake' | 'rest'>,
    log: Log,
  ) {
    this.#pool = pool;
    this.#slots = slots;
    this.#heartbeat = heartbeat;
    const onError = (error: unknown) => log.warn({ err: error }, 'could not look for queued work');
    const { busy, resting } = LOOK_EVERY_MS;
    this.#looks = heartbeat.rest.every(busy, resting, () => this.#look(), { onError });
  }

  get silentMs(): number {
    return Math.min(performance.now() - this.#answeredAt, this.#heartbeat.rest.awakeMs);
  }

  close(): Promise<void> {
    return this.#looks.stop();
  }

  async #look(): Promise<void> {
    const kinds = this.#slots.flatMap((slots) => slots.kinds);
    const flows = kinds.length === 0 ? [] : await queuedFlows(this.#pool, kinds);
    this.#answeredAt = performance.now();
    if (flows.length > 0) await this.#heartbeat.awake();
    for (const slots of this.#slots) slots.noteLook(flows);
  }
}

/** Randomizes a delay, so that workers that competed for a row are unlikely to do so again. */
function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}
