import { AppError } from '../shared/errors/app-error.ts';

/** Costly work, few pieces at a time, with a bounded line behind them: what comes in a storm is refused, not piled up. */
export class Lane {
  readonly #atOnce: number;
  readonly #longest: number;
  #running = 0;
  readonly #line = new Set<() => void>();

  constructor({ atOnce, longest }: { atOnce: number; longest: number }) {
    this.#atOnce = atOnce;
    this.#longest = longest;
  }

  /**
   * Does the work when its turn comes. Throws `overloaded` at once when the line is full, and to a caller who went away
   * before its turn.
   */
  async run<T>(work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    if (this.#running >= this.#atOnce) await this.#turn(gone);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  async #turn(gone: AbortSignal | undefined): Promise<void> {
    if (this.#line.size >= this.#longest) throw new AppError('overloaded');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      if (this.#line.delete(resolve)) reject(new AppError('overloaded', { cause: gone?.reason }));
    };
    this.#line.add(resolve);
    gone?.addEventListener('abort', leave);
    if (gone?.aborted) leave();
    try {
      await promise;
    } finally {
      gone?.removeEventListener('abort', leave);
    }
  }

  /** Hands the place on to the first in the line. */
  #next(): void {
    const [first] = this.#line;
    if (first === undefined) this.#running -= 1;
    else {
      this.#line.delete(first);
      first();
    }
  }
}
