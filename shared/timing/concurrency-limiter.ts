import { AppError } from '../errors/app-error.ts';

export interface ConcurrencyLimiterOptions {
  /** Maximum total weight of what runs at once. */
  atOnce: number;
  /** Maximum total weight that one party may hold; `atOnce` by default. */
  each?: number;
  /** Maximum number of one party's pieces that may wait in its line; unbounded by default. */
  longest?: number;
}

/** A piece of work, as the limiter sees it. */
export interface LimitedWork {
  /** Name of its party. Parties take turns. */
  party?: string;
  /** Its part of `atOnce`; 1 by default. A piece that weighs more than `each` never starts. */
  weight?: number;
  /** Aborts when nobody waits for the work any more. */
  gone?: AbortSignal | undefined;
  /** Maximum time to wait for its turn; unlimited by default. */
  waitMs?: number;
}

/** Permission to run, held while the work runs. */
export interface Permit {
  /** Adds to its weight. Returns false, and adds nothing, if that does not fit at once. */
  grow(by: number): boolean;
  /** Subtracts from its weight, at most all of it. */
  shrink(by: number): void;
  /** Releases its weight. A second call does nothing. */
  release(): void;
}

interface WaitingPiece {
  weight: number;
  enter(): void;
}

interface Party {
  held: number;
  line: Set<WaitingPiece>;
}

/**
 * A concurrency limiter, or weighted semaphore, for work that costs memory, a core or a connection. Pieces of work wait
 * in bounded lines, one for each party, and the parties take turns; a piece that finds its party's line full is
 * refused. p-queue and p-limit have no parties, weights or bound on the waiting work.
 */
export class ConcurrencyLimiter {
  #atOnce: number;
  readonly #each: number;
  readonly #longest: number;
  #held = 0;
  /** Parties that hold or wait for something, next in turn first. */
  readonly #parties = new Map<string, Party>();

  constructor({ atOnce, each = atOnce, longest = Number.POSITIVE_INFINITY }: ConcurrencyLimiterOptions) {
    this.#atOnce = atOnce;
    this.#each = each;
    this.#longest = longest;
  }

  /** Changes `atOnce`. Running work goes on. */
  setAtOnce(atOnce: number): void {
    this.#atOnce = atOnce;
    this.#startNext();
  }

  /** Does the work when its turn comes. Throws as `acquire` does. */
  async run<T>(work: () => Promise<T>, piece: LimitedWork = {}): Promise<T> {
    const permit = await this.acquire(piece);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /**
   * Resolves when its turn comes. Throws `overloaded`: at once if the party's line is full, or later if, before its
   * turn, the caller has gone or the waiting time is over.
   */
  async acquire({ party: name = '', weight = 1, ...limits }: LimitedWork = {}): Promise<Permit> {
    const party = this.#parties.get(name) ?? { held: 0, line: new Set() };
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
    const waiting = { weight, enter: resolve };
    party.line.add(waiting);
    const leave = () => {
      if (!party.line.delete(waiting)) return;
      reject(new AppError('overloaded', { cause: gone?.reason }));
      this.#startNext();
    };
    this.#startNext();
    if (!party.line.has(waiting)) return;
    if (gone?.aborted || party.line.size > this.#longest) leave();
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
    let held = weight;
    const shrink = (by: number) => {
      this.#take(party, -by);
      held -= by;
      this.#startNext();
    };
    return {
      shrink,
      grow: (by) => {
        if (!this.#fits(party, by)) return false;
        this.#take(party, by);
        held += by;
        return true;
      },
      release: () => {
        if (held === 0) return;
        this.#take(party, -held);
        held = 0;
        this.#moveToEnd(name, party);
        this.#startNext();
      },
    };
  }

  #fits(party: Party, weight: number): boolean {
    return this.#held + weight <= this.#atOnce && party.held + weight <= this.#each;
  }

  #take(party: Party, weight: number): void {
    party.held += weight;
    this.#held += weight;
  }

  /** Starts what fits. Nothing overtakes a piece that `atOnce` has no room for, or heavy pieces would never start. */
  #startNext(): void {
    for (const [name, party] of this.#parties) {
      const [first] = party.line;
      if (first === undefined) {
        if (party.held === 0) this.#parties.delete(name);
        continue;
      }
      if (party.held + first.weight > this.#each) continue;
      if (this.#held + first.weight > this.#atOnce) return;
      party.line.delete(first);
      this.#take(party, first.weight);
      // The party moves to the end, where this loop meets it again.
      this.#moveToEnd(name, party);
      first.enter();
    }
  }

  #moveToEnd(name: string, party: Party): void {
    this.#parties.delete(name);
    this.#parties.set(name, party);
  }
}
