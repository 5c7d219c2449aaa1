import { AppError } from '../shared/errors/app-error.ts';

export interface LaneOptions {
  /** How much may be under way at once: pieces of work, or whatever else their weights count. */
  atOnce: number;
  /** How much of it one party may have under way; all of it. */
  each?: number;
  /** How many of one party may wait in the line. */
  longest?: number;
}

/** What a piece of work is to its lane. */
export interface Piece {
  /** Parties take turns. */
  party?: string;
  /** Its part of `atOnce`; 1. A party's pieces may weigh less than `each`, or they never get a place. */
  weight?: number;
  /** Aborted when nobody waits for the work any longer. */
  gone?: AbortSignal | undefined;
}

/** What is held while the work is under way. */
export interface Place {
  /** Adds to its weight, if that fits at once. */
  grow(by: number): boolean;
  leave(): void;
}

interface Waiting {
  weight: number;
  enter(): void;
}

interface Party {
  underWay: number;
  line: Set<Waiting>;
}

/**
 * A concurrency limiter: work that costs memory, a core or a connection, little of it at a time, with bounded lines behind
 * it in which parties take turns. What comes in a storm is refused, not piled up.
 */
export class Lane {
  readonly #atOnce: number;
  readonly #each: number;
  readonly #longest: number;
  #underWay = 0;
  /** Those that have or want a place; who had one last stands last. */
  readonly #parties = new Map<string, Party>();

  constructor({ atOnce, each = atOnce, longest = Number.POSITIVE_INFINITY }: LaneOptions) {
    this.#atOnce = atOnce;
    this.#each = each;
    this.#longest = longest;
  }

  /** Does the work when its turn comes. Throws as `enter` does. */
  async run<T>(work: () => Promise<T>, piece: Piece = {}): Promise<T> {
    const place = await this.enter(piece);
    try {
      return await work();
    } finally {
      place.leave();
    }
  }

  /**
   * Takes a place when its turn comes. Throws `overloaded` at once when the party's line is full, and to a caller who is
   * gone before its turn.
   */
  async enter({ party: name = '', weight = 1, gone }: Piece = {}): Promise<Place> {
    const party = this.#parties.get(name) ?? { underWay: 0, line: new Set() };
    this.#parties.set(name, party);
    await this.#turn(party, weight, gone);
    return this.#place(name, party, weight);
  }

  async #turn(party: Party, weight: number, gone: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { weight, enter: resolve };
    party.line.add(waiting);
    const leave = () => {
      if (!party.line.delete(waiting)) return;
      reject(new AppError('overloaded', { cause: gone?.reason }));
      this.#next();
    };
    this.#next();
    if (gone?.aborted || party.line.size > this.#longest) leave();
    gone?.addEventListener('abort', leave);
    try {
      await promise;
    } finally {
      gone?.removeEventListener('abort', leave);
    }
  }

  #place(name: string, party: Party, weight: number): Place {
    let held = weight;
    return {
      grow: (by) => {
        if (!this.#fits(party, by)) return false;
        this.#take(party, by);
        held += by;
        return true;
      },
      leave: () => {
        if (held === 0) return;
        this.#take(party, -held);
        held = 0;
        this.#putLast(name, party);
        this.#next();
      },
    };
  }

  #fits(party: Party, weight: number): boolean {
    return this.#underWay + weight <= this.#atOnce && party.underWay + weight <= this.#each;
  }

  #take(party: Party, weight: number): void {
    party.underWay += weight;
    this.#underWay += weight;
  }

  /** Lets in what fits. Nothing passes work that waits for room in all, or heavy work would never get in. */
  #next(): void {
    for (const [name, party] of this.#parties) {
      const [first] = party.line;
      if (first === undefined) {
        if (party.underWay === 0) this.#parties.delete(name);
        continue;
      }
      if (party.underWay + first.weight > this.#each) continue;
      if (this.#underWay + first.weight > this.#atOnce) return;
      party.line.delete(first);
      this.#take(party, first.weight);
      // The loop comes to it again.
      this.#putLast(name, party);
      first.enter();
    }
  }

  #putLast(name: string, party: Party): void {
    this.#parties.delete(name);
    this.#parties.set(name, party);
  }
}
