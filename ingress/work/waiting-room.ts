import type { Fate } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { outcomesFound } from '../../shared/metrics/work.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';

const POLL_EVERY_MS = 500;
/** Maximum time of a poll. A poll that hangs longer could leave a lost wake-up unnoticed until the deadline. */
const POLL_TIMEOUT_MS = 900;

/** A waiting caller. `fate` resolves when the work has ended, and rejects at `close`. */
export interface Waiter {
  fate: Promise<Fate>;
  /** Rejects `fate` for this caller alone. */
  reject(error: unknown): void;
  leave(): void;
}

interface Caller {
  resolve(fate: Fate): void;
  reject(error: unknown): void;
}

interface AwaitedWork {
  key: string;
  callers: Set<Caller>;
}

/** Reads how the requests with these keys have ended. Leaves out requests that still run. Rejects after `withinMs`. */
export type ReadFates = (keys: string[], withinMs: number | undefined) => Promise<ReadonlyMap<string, Fate>>;

/**
 * Callers that wait for work to end. A wake-up names the rows to read. A poll twice a second finds work whose wake-up
 * was lost.
 */
export class WaitingRoom {
  readonly #awaitedWork = new Map<string, AwaitedWork>();
  readonly #readFates: ReadFates;
  readonly #log: Log;
  readonly #polls: Repetition;
  #isClosed = false;
  /** Ids that the latest poll found ended, and no wake-up has named since. */
  readonly #foundByPoll = new Set<string>();
  /** Ids that wake-ups have named since the latest read. */
  readonly #wokenIds = new Set<string>();
  readonly #wokenReads = new Coalescer(() => {
    const ids = [...this.#wokenIds];
    this.#wokenIds.clear();
    return this.#read('wake_up', ids);
  });

  constructor(readFates: ReadFates, log: Log) {
    this.#readFates = readFates;
    this.#log = log;
    this.#polls = every(POLL_EVERY_MS, () => this.#poll());
  }

  /** The number of pieces of work that somebody waits for. */
  get size(): number {
    return this.#awaitedWork.size;
  }

  /** Starts to wait. Call it before the work is announced, so that no wake-up comes too early. */
  enter({ id, key }: { id: string; key: string }): Waiter {
    const { promise: fate, resolve, reject } = Promise.withResolvers<Fate>();
    const caller: Caller = { resolve, reject };
    const work = this.#awaitedWork.get(id) ?? { key, callers: new Set() };
    this.#awaitedWork.set(id, work);
    work.callers.add(caller);
    if (this.#isClosed) reject(new AppError('service_unavailable'));
    return { fate, reject, leave: () => this.#leave(id, caller) };
  }

  wake(ids: readonly string[]): void {
    for (const id of ids) if (this.#foundByPoll.delete(id)) outcomesFound.inc({ by: 'wake_up' });
    const awaited = ids.filter((id) => this.#awaitedWork.has(id));
    for (const id of awaited) this.#wokenIds.add(id);
    if (awaited.length > 0) void this.#wokenReads.run();
  }

  /** Stops polling. Rejects every caller, now and later, with `service_unavailable`. */
  close(): void {
    this.#isClosed = true;
    void this.#polls.stop();
    for (const { callers } of this.#awaitedWork.values()) {
      for (const caller of callers) caller.reject(new AppError('service_unavailable'));
    }
  }

  /** Counts what the poll before found as its own only now: until then the wake-up may be under way. */
  #poll(): Promise<void> {
    if (this.#foundByPoll.size > 0) outcomesFound.inc({ by: 'poll' }, this.#foundByPoll.size);
    this.#foundByPoll.clear();
    return this.#read('poll', [...this.#awaitedWork.keys()]);
  }

  /**
   * Reads how work has ended, and answers the callers that waited when the read began. Their work was admitted before
   * the read, so work that the read does not find is gone. Callers that came later may wait for a new attempt, about
   * which the read says nothing.
   */
  async #read(by: 'wake_up' | 'poll', ids: readonly string[]): Promise<void> {
    const reads = ids.flatMap((id) => {
      const work = this.#awaitedWork.get(id);
      return work === undefined ? [] : { id, key: work.key, callers: [...work.callers] };
    });
    if (reads.length === 0) return;
    try {
      const keys = reads.map(({ key }) => key);
      const fates = await this.#readFates(keys, by === 'poll' ? POLL_TIMEOUT_MS : undefined);
      for (const { id, key, callers } of reads) {
        const fate = fates.get(key);
        if (fate === undefined || (fate !== 'gone' && fate.id !== id)) continue;
        if (by === 'poll') this.#foundByPoll.add(id);
        else outcomesFound.inc({ by });
        for (const caller of callers) caller.resolve(fate);
      }
    } catch (error) {
      this.#log.warn({ err: error, by }, 'could not read how work has ended');
    }
  }

  #leave(id: string, caller: Caller): void {
    const work = this.#awaitedWork.get(id);
    work?.callers.delete(caller);
    if (work?.callers.size === 0) this.#awaitedWork.delete(id);
  }
}
