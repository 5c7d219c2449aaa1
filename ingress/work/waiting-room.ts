import type { Fate } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { outcomesFound } from '../../shared/metrics/work.ts';
import { every, type Repeated } from '../../shared/timing/every.ts';

const POLL_EVERY_MS = 500;
/** Longer than a database under load needs, and short: a lost wake-up must not last to the deadline. */
const POLL_WITHIN_MS = 900;

/** A waiting caller. `ended` resolves with the outcome of the work, with or without a wake-up. */
export interface Waiter {
  ended: Promise<Fate>;
  /** Resolves `ended` for this caller alone. */
  resolve(fate: Fate): void;
  /** Rejects `ended` for this caller alone. */
  reject(error: unknown): void;
  /** The caller waits no longer. */
  leave(): void;
}

interface WorkKey {
  id: string;
  key: string;
}

type Caller = Pick<Waiter, 'resolve' | 'reject'>;

/** The callers of one piece of work. */
interface Callers {
  key: string;
  callers: Set<Caller>;
}

/** A read of work, for those who waited for it when the read began. */
interface Read extends WorkKey {
  callers: readonly Caller[];
}

/** Reads what no longer runs. */
export interface Rows {
  /** Reads one request by its key; shares its statement with others that are read at the same time. */
  look(key: string): Promise<Fate | undefined>;
  /** Reads many requests by their keys; rejects after `withinMs`. */
  poll(keys: string[], options: { withinMs: number }): Promise<ReadonlyMap<string, Fate>>;
}

/**
 * Callers that wait for work to end. A wake-up makes the room read the rows that it names. Twice a second it polls every
 * row that somebody waits for, so that a lost wake-up costs half a second at most.
 */
export class WaitingRoom {
  readonly #callers = new Map<string, Callers>();
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

  /** The number of pieces of work that somebody waits for. */
  get size(): number {
    return this.#callers.size;
  }

  /** Checks whether anybody waits. */
  get isBusy(): boolean {
    return this.#callers.size > 0;
  }

  /** Checks whether several wait. */
  get isCrowded(): boolean {
    return this.#callers.size > 1;
  }

  /** Starts to wait. To be called before the work is queued, so that no answer can come too early. */
  enter({ id, key }: WorkKey): Waiter {
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
      if (waited !== undefined) void this.#look(asReadBegins(id, waited));
    }
  }

  /** Answers every caller that the service is shutting down. */
  close(): void {
    void this.#polls.stop();
    for (const { callers } of this.#callers.values()) {
      for (const caller of callers) caller.reject(new AppError('service_unavailable'));
    }
  }

  async #look(read: Read): Promise<void> {
    try {
      answer(read, await this.#rows.look(read.key), 'wake_up');
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read the row of a wake-up');
    }
  }

  async #poll(): Promise<void> {
    if (this.#callers.size === 0) return;
    const reads = [...this.#callers].map(([id, waited]) => asReadBegins(id, waited));
    const fates = await this.#rows.poll(
      reads.map(({ key }) => key),
      { withinMs: POLL_WITHIN_MS },
    );
    for (const read of reads) answer(read, fates.get(read.key), 'poll');
  }

  #leave(id: string, caller: Caller): void {
    const waited = this.#callers.get(id);
    waited?.callers.delete(caller);
    if (waited?.callers.size === 0) this.#callers.delete(id);
  }
}

function asReadBegins(id: string, { key, callers }: Callers): Read {
  return { id, key, callers: [...callers] };
}

/**
 * The callers of a read were admitted before it began, so work that it did not find will never be there again. Later
 * callers may wait for a new attempt, of which the read knows nothing: it may have found the end of the one before.
 */
function answer({ id, callers }: Read, fate: Fate | undefined, by: 'wake_up' | 'poll'): void {
  if (fate === undefined || (fate !== 'gone' && fate.id !== id)) return;
  outcomesFound.inc({ by });
  for (const caller of callers) caller.resolve(fate);
}
