import type { Outcome } from '../shared/domain/work.ts';
import { AppError } from '../shared/errors/app-error.ts';
import type { Log } from '../shared/log.ts';

const POLL_EVERY_MS = 1000;
/** Longer than a database under load needs, and shorter than the poll: a lost wake-up must not last to the deadline. */
const POLL_WITHIN_MS = 900;

/** A caller's place. `ended` resolves with the work's outcome, whoever ended it and whether or not a wake-up came. */
export interface Place {
  ended: Promise<Outcome>;
  /** Answers this caller alone. */
  tell(outcome: Outcome): void;
  fail(error: unknown): void;
  leave(): void;
}

interface Waited {
  id: string;
  key: string;
}

interface Caller {
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** How the room reads what has ended. */
export interface Rows {
  /** One request by its key; shares its statement with others that are asked for at the same time. */
  look(key: string): Promise<Outcome | undefined>;
  /** Many requests, or an error after `withinMs`. */
  poll(keys: string[], options: { withinMs: number }): Promise<Outcome[]>;
}

/**
 * Callers who wait for work to end. A wake-up makes it look at the rows that it names; once a second it looks at
 * every row that somebody waits for, whatever its age, so that a lost wake-up costs a second at most.
 */
export class WaitingRoom {
  readonly #callers = new Map<string, { key: string; callers: Set<Caller> }>();
  readonly #rows: Rows;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #polling = false;

  constructor(rows: Rows, log: Log) {
    this.#rows = rows;
    this.#log = log;
    this.#timer = setInterval(() => void this.#poll(), POLL_EVERY_MS);
  }

  /** Whether anybody waits. */
  get isBusy(): boolean {
    return this.#callers.size > 0;
  }

  /** Takes a place; to be done before the work is queued, so that no answer can come too early. */
  enter({ id, key }: Waited): Place {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const caller: Caller = { resolve, reject };
    const waited = this.#callers.get(id) ?? { key, callers: new Set() };
    this.#callers.set(id, waited);
    waited.callers.add(caller);
    return { ended: promise, tell: resolve, fail: reject, leave: () => this.#leave(id, caller) };
  }

  /** Looks at the rows of those ids that somebody here waits for. */
  wake(ids: readonly string[]): void {
    for (const id of ids) {
      const waited = this.#callers.get(id);
      if (waited !== undefined) void this.#look(waited.key);
    }
  }

  /** Answers everybody that the service is shutting down. */
  close(): void {
    clearInterval(this.#timer);
    for (const { callers } of this.#callers.values()) {
      for (const caller of callers) caller.reject(new AppError('service_unavailable'));
    }
  }

  async #look(key: string): Promise<void> {
    try {
      this.#tell(await this.#rows.look(key));
    } catch (error) {
      this.#log.warn({ err: error }, 'could not look after a wake-up');
    }
  }

  /** One at a time; a database that is slow to answer is asked again a second later. */
  async #poll(): Promise<void> {
    if (this.#polling || this.#callers.size === 0) return;
    this.#polling = true;
    try {
      const keys = [...this.#callers.values()].map(({ key }) => key);
      for (const outcome of await this.#rows.poll(keys, { withinMs: POLL_WITHIN_MS })) this.#tell(outcome);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not poll');
    } finally {
      this.#polling = false;
    }
  }

  #tell(outcome: Outcome | undefined): void {
    if (outcome === undefined) return;
    for (const caller of this.#callers.get(outcome.id)?.callers ?? []) caller.resolve(outcome);
  }

  #leave(id: string, caller: Caller): void {
    const waited = this.#callers.get(id);
    waited?.callers.delete(caller);
    if (waited?.callers.size === 0) this.#callers.delete(id);
  }
}
