import { AppError } from '../errors/app-error.ts';

export interface ConcurrencyLimiterOptions {
  /** Maximum total weight of the running work. */
  capacity: number;
  /** Maximum weight of one party's running work; `capacity` by default. */
  maxPerParty?: number;
  /** Maximum length of one party's queue; unbounded by default. */
  maxQueued?: number;
}

export interface LimitedWork {
  party?: string;
  /** 1 by default. Work that is heavier than `maxPerParty` never starts, and blocks the queue of its party. */
  weight?: number;
  /** Aborts when nobody waits for the work any more. */
  gone?: AbortSignal | undefined;
  /** Maximum time in the queue; unlimited by default. */
  waitMs?: number;
}

export interface Permit {
  /** Adds to the weight. Returns false, and adds nothing, if there is no room. */
  grow(by: number): boolean;
  shrink(by: number): void;
  /** A second call does nothing. */
  release(): void;
}

interface WaitingWork {
  weight: number;
  start(): void;
}

interface Party {
  heldWeight: number;
  queue: Set<WaitingWork>;
}

/**
 * A weighted semaphore for work that needs memory, a core or a connection. Work belongs to a party, such as an account,
 * and the parties take turns. p-queue and p-limit have no parties, weights or limit on waiting work.
 */
export class ConcurrencyLimiter {
  readonly #capacity: number;
  readonly #maxPerParty: number;
  readonly #maxQueued: number;
  #heldWeight = 0;
  /** Parties with running or waiting work, in the order of their turns. */
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

  async run<T>(work: () => Promise<T>, limits: LimitedWork = {}): Promise<T> {
    const permit = await this.acquire(limits);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /** Throws `overloaded`: at once if the party's queue is full, later if the caller leaves or `waitMs` has passed. */
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

  /**
   * If the next work is too heavy for the free capacity, lighter work waits too. Otherwise, heavy work might never
   * start.
   */
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
      // Moves the party to the end of the map, where this loop reaches it again.
      this.#moveToEnd(name, party);
      first.start();
    }
  }

  #moveToEnd(name: string, party: Party): void {
    this.#parties.delete(name);
    this.#parties.set(name, party);
  }
}
