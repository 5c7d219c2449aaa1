import { AppError } from '../errors/app-error.ts';

export interface ConcurrencyLimiterOptions {
  /** Sum of weights that may run at once: pieces of work, or whatever else they count. */
  atOnce: number;
  /** Share of it that one party may hold; all of it by default. */
  each?: number;
  /** Number of one party that may wait in its line; unbounded by default. */
  longest?: number;
}

/** Limits of a piece of work. */
export interface Piece {
  /** Parties take turns. */
  party?: string;
  /** Its share of `atOnce`; 1 by default. A weight above `each` never gets in. */
  weight?: number;
  /** Aborts when nobody waits for the work any longer. */
  gone?: AbortSignal | undefined;
  /** Time that it may wait for its turn; unlimited by default. */
  waitMs?: number;
}

/** Held while the work runs. */
export interface Permit {
  /** Adds to its weight; false if that does not fit at once. */
  grow(by: number): boolean;
  /** Takes from its weight, at most all of it. */
  shrink(by: number): void;
  /** The second time it does nothing. */
  release(): void;
}

interface Waiting {
  weight: number;
  enter(): void;
}

interface Party {
  held: number;
  line: Set<Waiting>;
}

/**
 * A concurrency limiter, or weighted semaphore, for work that costs memory, a core or a connection. What waits stands
 * in bounded lines, one for each party, which take turns; what a storm brings beyond that is refused. p-queue and
 * p-limit know neither parties nor weights nor a bound on what waits.
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

  /** Changes how much may run at once. What runs already goes on. */
  setAtOnce(atOnce: number): void {
    this.#atOnce = atOnce;
    this.#next();
  }

  /** Does the work when its turn comes. Throws as `acquire` does. */
  async run<T>(work: () => Promise<T>, piece: Piece = {}): Promise<T> {
    const permit = await this.acquire(piece);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /**
   * Resolves when its turn comes. Throws `overloaded` at once if the party's line is full, and when the caller is gone or
   * has waited too long before its turn.
   */
  async acquire({ party: name = '', weight = 1, ...limits }: Piece = {}): Promise<Permit> {
    const party = this.#parties.get(name) ?? { held: 0, line: new Set() };
    this.#parties.set(name, party);
    await this.#turn(party, weight, limits);
    return this.#permit(name, party, weight);
  }

  async #turn(party: Party, weight: number, { gone, waitMs }: Pick<Piece, 'gone' | 'waitMs'>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { weight, enter: resolve };
    party.line.add(waiting);
    const leave = () => {
      if (!party.line.delete(waiting)) return;
      reject(new AppError('overloaded', { cause: gone?.reason }));
      this.#next();
    };
    this.#next();
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
      this.#next();
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
        this.#toEnd(name, party);
        this.#next();
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

  /** Lets in what fits. Nothing overtakes work that waits for `atOnce`, or heavy work would never get in. */
  #next(): void {
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
      // Moved to the end, where this loop meets it again.
      this.#toEnd(name, party);
      first.enter();
    }
  }

  #toEnd(name: string, party: Party): void {
    this.#parties.delete(name);
    this.#parties.set(name, party);
  }
}
