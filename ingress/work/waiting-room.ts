import type { Fate } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { every, type Repeated } from '../../shared/every.ts';
import type { Log } from '../../shared/log.ts';

const POLL_EVERY_MS = 1000;
/** Longer than a database under load needs, and shorter than the poll: a lost wake-up must not last to the deadline. */
const POLL_WITHIN_MS = 900;

/** One waiting caller. `ended` resolves with what became of the work, with or without a wake-up. */
export interface Waiter {
  ended: Promise<Fate>;
  /** Resolves `ended` for this caller alone. */
  resolve(fate: Fate): void;
  /** Rejects `ended` for this caller alone. */
  reject(error: unknown): void;
  /** The caller waits no longer. */
  leave(): void;
}

interface Waited {
  id: string;
  key: string;
}

type Caller = Pick<Waiter, 'resolve' | 'reject'>;

/** How the room reads what no longer runs. */
export interface Rows {
  /** One request by its key; shares its statement with others that are read at the same time. */
  look(key: string): Promise<Fate | undefined>;
  /** Many requests, by their keys; or an error after `withinMs`. */
  poll(keys: string[], options: { withinMs: number }): Promise<ReadonlyMap<string, Fate>>;
}

/**
 * Callers that wait for work to end. A wake-up makes the room read the rows that it names. Once a second it polls every
 * row that somebody waits for, so that a lost wake-up costs a second at most.
 */
export class WaitingRoom {
  readonly #callers = new Map<string, { key: string; callers: Set<Caller> }>();
  readonly #rows: Rows;
  readonly #log: Log;
  readonly #polls: Repeated;

  constructor(rows: Rows, log: Log) {
    this.#rows = rows;
    this.#log = log;
    this.#polls = every(POLL_EVERY_MS, () => this.#poll(), {
      onError: (error) => log.warn({ err: error }, 'could not poll for outcomes'),
    });
  }

  /** Whether anybody waits. */
  get isBusy(): boolean {
    return this.#callers.size > 0;
  }

  /** Whether several wait. */
  get isCrowded(): boolean {
    return this.#callers.size > 1;
  }

  /** Starts to wait. To be called before the work is queued, so that no answer can come too early. */
  enter({ id, key }: Waited): Waiter {
    const { promise: ended, resolve, reject } = Promise.withResolvers<Fate>();
    const caller: Caller = { resolve, reject };
    const waited = this.#callers.get(id) ?? { key, callers: new Set() };
    this.#callers.set(id, waited);
    waited.callers.add(caller);
    return { ended, ...caller, leave: () => this.#leave(id, caller) };
  }

  /** Reads the rows of those ids that somebody here waits for. */
  wake(ids: readonly string[]): void {
    for (const id of ids) {
      const waited = this.#callers.get(id);
      if (waited !== undefined) void this.#look({ id, key: waited.key });
    }
  }

  /** Answers every caller that the service is shutting down. */
  close(): void {
    void this.#polls.stop();
    for (const { callers } of this.#callers.values()) {
      for (const caller of callers) caller.reject(new AppError('service_unavailable'));
    }
  }

  async #look({ id, key }: Waited): Promise<void> {
    try {
      this.#resolve(id, await this.#rows.look(key));
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read the row of a wake-up');
    }
  }

  async #poll(): Promise<void> {
    if (this.#callers.size === 0) return;
    const waited = [...this.#callers].map(([id, { key }]) => ({ id, key }));
    const fates = await this.#rows.poll(
      waited.map(({ key }) => key),
      { withinMs: POLL_WITHIN_MS },
    );
    for (const { id, key } of waited) this.#resolve(id, fates.get(key));
  }

  /** Who waits was admitted before the look began, so work that the look did not find will never be there again. */
  #resolve(id: string, fate: Fate | undefined): void {
    if (fate === undefined || (fate !== 'gone' && fate.id !== id)) return;
    for (const caller of this.#callers.get(id)?.callers ?? []) caller.resolve(fate);
  }

  #leave(id: string, caller: Caller): void {
    const waited = this.#callers.get(id);
    waited?.callers.delete(caller);
    if (waited?.callers.size === 0) this.#callers.delete(id);
  }
}
