import type { Outcome } from '../shared/domain/prediction.ts';
import { AppError } from '../shared/errors/app-error.ts';
import type { Log } from '../shared/log.ts';

const SWEEP_EVERY_MS = 1000;
const SWEEP_WITHIN_MS = 300;

/** A caller's place. `ended` resolves with the row's outcome, whoever ended it and whether or not a wake-up came. */
export interface Place {
  ended: Promise<Outcome>;
  /** Tells this caller alone. */
  tell(outcome: Outcome): void;
  fail(error: unknown): void;
  leave(): void;
}

interface Caller {
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** How the room reads rows: the outcomes of those that have ended. */
export interface Rows {
  /** One row; shares its statement with others that are asked for at the same time. */
  look(id: string): Promise<Outcome | undefined>;
  /** Many rows, or an error after `withinMs`. */
  sweep(ids: string[], options: { withinMs: number }): Promise<Outcome[]>;
}

/**
 * Callers who wait for a row to end. A wake-up makes it look at the rows that it names; once a second it looks at
 * every row that somebody waits for, whatever its age, so that a lost wake-up costs a second at most.
 */
export class WaitingRoom {
  readonly #callers = new Map<string, Set<Caller>>();
  readonly #rows: Rows;
  readonly #log: Log;
  readonly #sweeper: NodeJS.Timeout;
  #sweeping = false;

  constructor(rows: Rows, log: Log) {
    this.#rows = rows;
    this.#log = log;
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_EVERY_MS);
  }

  /** Whether anybody waits. */
  get isBusy(): boolean {
    return this.#callers.size > 0;
  }

  /** Whether anybody waits for this prediction. */
  awaits(id: string): boolean {
    return this.#callers.has(id);
  }

  /** Takes a place; to be done before the job is queued, so that no answer can come too early. */
  enter(id: string): Place {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const caller: Caller = { resolve, reject };
    const callers = this.#callers.get(id) ?? new Set();
    this.#callers.set(id, callers.add(caller));
    return { ended: promise, tell: resolve, fail: reject, leave: () => this.#leave(id, caller) };
  }

  /** Looks at the rows of those ids that somebody here waits for. */
  wake(ids: readonly string[]): void {
    for (const id of ids) if (this.#callers.has(id)) void this.#look(id);
  }

  /** Answers everybody that the service is shutting down. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const callers of this.#callers.values()) {
      for (const caller of callers) caller.reject(new AppError('service_unavailable'));
    }
  }

  async #look(id: string): Promise<void> {
    try {
      this.#tell(await this.#rows.look(id));
    } catch (error) {
      this.#log.warn({ err: error }, 'could not look after a wake-up');
    }
  }

  /** One at a time; a database that is slow to answer is asked again a second later. */
  async #sweep(): Promise<void> {
    if (this.#sweeping || this.#callers.size === 0) return;
    this.#sweeping = true;
    try {
      const ended = await this.#rows.sweep([...this.#callers.keys()], { withinMs: SWEEP_WITHIN_MS });
      for (const outcome of ended) this.#tell(outcome);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not sweep');
    } finally {
      this.#sweeping = false;
    }
  }

  #tell(outcome: Outcome | undefined): void {
    if (outcome === undefined) return;
    for (const caller of this.#callers.get(outcome.id) ?? []) caller.resolve(outcome);
  }

  #leave(id: string, caller: Caller): void {
    const callers = this.#callers.get(id);
    callers?.delete(caller);
    if (callers?.size === 0) this.#callers.delete(id);
  }
}
