import { AppError } from '../errors/app-error.ts';

export interface ConcurrencyLimiterOptions {
  /** Maximum total weight of what runs at once. */
  capacity: number;
  /** Maximum total weight that one party may hold; `capacity` by default. */
  maxPerParty?: number;
  /** Maximum number of pieces that may wait in the queue of one party; unbounded by default. */
  maxQueued?: number;
}

/** A piece of work for the limiter. */
export interface LimitedWork {
  /** Name of its party. Parties take turns. */
  party?: string;
  /**
   * Its share of `capacity`; 1 by default. A piece heavier than `maxPerParty` never starts, nor does anything that its
   * party queues after it.
   */
  weight?: number;
  /** Aborts when nobody waits for the work any more. */
  gone?: AbortSignal | undefined;
  /** Maximum time to wait for its turn; unlimited by default. */
  waitMs?: number;
}

/** Permission to run, held while the work runs. */
export interface Permit {
  /** Adds to the weight. Returns false, and adds nothing, if there is no room at once. */
  grow(by: number): boolean;
  /** Subtracts from the weight, at most all of it. */
  shrink(by: number): void;
  /** Releases the whole weight. A second call does nothing. */
  release(): void;
}

interface WaitingPiece {
  weight: number;
  start(): void;
}

interface Party {
  heldWeight: number;
  queue: Set<WaitingPiece>;
}

/**
 * A concurrency limiter, or weighted semaphore, for work that costs memory, a core or a connection. Each party has a
 * queue for its waiting pieces of work, and the parties take turns; a piece is refused if `maxQueued` pieces of its
 * party wait already. p-queue and p-limit have no parties, weights or bound on the waiting work.
 */
export class ConcurrencyLimiter {
  #capacity: number;
  readonly #maxPerParty: number;
  readonly #maxQueued: number;
  #heldWeight = 0;
  /** Parties with pieces that run or wait, next in turn first. */
  readonly #parties = new Map<string, Party>();

  constructor({
    capacity,
    maxPerParty = capacity,
    maxQueued = Number.POSITIVE_INFINITY,
  }: ConcurrencyLimiterOptions) {
    this.#capacity = capacity;
    this.#maxPerParty = maxPerParty;
    this.#maxQueued = maxQueued;
  }

  /** Changes `capacity`. Running work goes on. */
  setCapacity(capacity: number): void {
    this.#capacity = capacity;
    this.#startNext();
  }

  /** Does the work when its turn comes. Throws what `acquire` or the work throws. */
  async run<T>(work: () => Promise<T>, piece: LimitedWork = {}): Promise<T> {
    const permit = await this.acquire(piece);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /**
   * Resolves when the turn of the piece comes. Throws `overloaded`: at once if the queue of the party is full, or later
   * if, before its turn, the caller has gone or the waiting time is over.
   */
  async acquire({ party: name = '', weight = 1, ...limits }: LimitedWork = {}): Promise<Permit> {
    const party = this.#parties.get(name) ?? { heldWeight: 0, queue: new Set() };
    this.#parties.set(name, party);
    await this.#waitForTurn(party, weight, limits);
    return this.#permit(name, party, weight);
  }

  async #waitForTurn(
    party: Party,
    weight: number,
    { gone, waitMs }: Pick<LimitedWork, 'gone' | 'waitMs'>,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { weight, start: resolve };
    party.queue.add(waiting);
    const leave = () => {
      if (!party.queue.delete(waiting)) return;
      reject(new AppError('overloaded', { cause: gone?.reason }));
      this.#startNext();
    };
    this.#startNext();
    if (!party.queue.has(waiting)) return;
    if (gone?.aborted || party.queue.size > this.#maxQueued) leave();
    gone?.addEventListener('abort', leave);
    const timer = waitMs === undefined ? undefined : setTimeout(leave, waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener('abort', leave);
    }
  }

  #permit(name: string, party: Party, weight: number): Permit {
    let heldWeight = weight;
    const shrink = (by: number) => {
      this.#take(party, -by);
      heldWeight -= by;
      this.#startNext();
    };
    return {
      shrink,
      grow: (by) => {
        if (!this.#fits(party, by)) return false;
        this.#take(party, by);
        heldWeight += by;
        return true;
      },
      release: () => {
        if (heldWeight === 0) return;
        this.#take(party, -heldWeight);
        heldWeight = 0;
        this.#moveToEnd(name, party);
        this.#startNext();
      },
    };
  }

  #fits(party: Party, weight: number): boolean {
    return this.#heldWeight + weight <= this.#capacity && party.heldWeight + weight <= this.#maxPerParty;
  }

  #take(party: Party, weight: number): void {
    party.heldWeight += weight;
    this.#heldWeight += weight;
  }

  /** Starts what fits. Nothing overtakes a piece that `capacity` has no room for, or it might never start. */
  #startNext(): void {
    for (const [name, party] of this.#parties) {
      const [first] = party.queue;
      if (first === undefined) {
        if (party.heldWeight === 0) this.#parties.delete(name);
        continue;
      }
      if (party.heldWeight + first.weight > this.#maxPerParty) continue;
      if (this.#heldWeight + first.weight > this.#capacity) return;
      party.queue.delete(first);
      this.#take(party, first.weight);
      // The party moves to the end, where this loop meets it again.
      this.#moveToEnd(name, party);
      first.start();
    }
  }

  #moveToEnd(name: string, party: Party): void {
    this.#parties.delete(name);
    this.#parties.set(name, party);
  }
}
