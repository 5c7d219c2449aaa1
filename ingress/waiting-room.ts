import type { Outcome } from '../shared/domain/prediction.ts';
import { AppError } from '../shared/errors/app-error.ts';
import type { Log } from '../shared/log.ts';

const SWEEP_EVERY_MS = 1000;
const SWEEP_WITHIN_MS = 300;

/** A caller's place. `ended` resolves with the row's outcome, whoever ended it and whether or not a wake-up came. */
export interface Place {
  ended: Promise<Outcome>;
  /** Gives the place up. True when nobody of this process waits for the prediction any more. */
  leave(): boolean;
}

interface Caller {
  resolve(outcome: Outcome): void;
  reject(error: AppError): void;
}

/** Reads the outcomes of those of the ids that have ended; `withinMs` gives up after so long. */
export type ReadEnded = (ids: string[], options?: { withinMs: number }) => Promise<Outcome[]>;

/**
 * Callers who wait for a row to end. A wake-up makes it look at the rows that it names; once a second it looks at
 * every row that somebody waits for, whatever its age, so that a lost wake-up costs a second at most.
 */
export class WaitingRoom {
  readonly #callers = new Map<string, Set<Caller>>();
  readonly #read: ReadEnded;
  readonly #log: Log;
  readonly #sweeper: NodeJS.Timeout;
  #sweeping = false;

  constructor(read: ReadEnded, log: Log) {
    this.#read = read;
    this.#log = log;
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_EVERY_MS);
  }

  /** Takes a place; to be done before the job is queued, so that no answer can come too early. */
  enter(id: string): Place {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const caller: Caller = { resolve, reject };
    const callers = this.#callers.get(id) ?? new Set();
    this.#callers.set(id, callers.add(caller));
    return { ended: promise, leave: () => this.#leave(id, caller) };
  }

  /** Looks at the rows of those ids that somebody here waits for. */
  wake(ids: readonly string[]): void {
    const awaited = ids.filter((id) => this.#callers.has(id));
    if (awaited.length === 0) return;
    this.#look(awaited).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'could not look after a wake-up'),
    );
  }

  /** Answers everybody that the service is shutting down. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const callers of this.#callers.values()) {
      for (const caller of callers) caller.reject(new AppError('service_unavailable'));
    }
  }

  async #look(ids: string[], options?: { withinMs: number }): Promise<void> {
    for (const outcome of await this.#read(ids, options)) {
      for (const caller of this.#callers.get(outcome.id) ?? []) caller.resolve(outcome);
    }
  }

  /** One at a time; a database that is slow to answer is asked again a second later. */
  async #sweep(): Promise<void> {
    if (this.#sweeping || this.#callers.size === 0) return;
    this.#sweeping = true;
    try {
      await this.#look([...this.#callers.keys()], { withinMs: SWEEP_WITHIN_MS });
    } catch (error) {
      this.#log.warn({ err: error }, 'could not sweep');
    } finally {
      this.#sweeping = false;
    }
  }

  #leave(id: string, caller: Caller): boolean {
    const callers = this.#callers.get(id);
    callers?.delete(caller);
    if (callers?.size === 0) this.#callers.delete(id);
    return !this.#callers.has(id);
  }
}
