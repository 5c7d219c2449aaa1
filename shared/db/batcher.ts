import { LRUCache } from 'lru-cache';
import { isLockTimeout, isUnavailable } from './faults.ts';

/** After this many lock time-outs of a party in a row, the items of a failed statement fail without a retry. */
const LOCK_TIMEOUTS_MAX = 3;
/** Maximum number of parties whose lock time-outs are remembered. */
const LOCKED_PARTIES_MAX = 1000;

export interface BatcherOptions<In> {
  maxItems: number;
  /**
   * Party of an item, such as an account. A batch contains items of one party, and a slow party does not delay others.
   * By default, there is only one party.
   */
  partyOf?: (item: In) => string;
  /** Size of an item, in bytes or characters. A batch holds at most `maxBytes` of them, or a single larger item. */
  bytesOf?: (item: In) => number;
  maxBytes?: number;
  /** Items of one party that have a key in common never share a batch; the later one waits. */
  keysOf?: (item: In) => readonly string[];
  /**
   * Maximum number of statements in flight over all parties, each on a connection of its own: by default 1, or 4 with
   * `partyOf`.
   */
  maxInFlight?: number;
  /** While this returns true, the items of one turn of the event loop share a statement. */
  isBusy?: () => boolean;
}

/**
 * Combines the items of several callers into one statement. Callers that arrive while a statement of their party runs
 * share the next one. A lone caller's statement starts at once, unless `isBusy`. If `signal` aborts, an item that still
 * waits is withdrawn.
 *
 * `run` returns one output for each item, in the same order. When a shared statement fails, its items are retried
 * alone, one after the other, so that a bad item does not fail the others. All of them fail at once if the database is
 * unreachable, or after `LOCK_TIMEOUTS_MAX` lock time-outs in a row.
 */
export function createBatcher<In, Out>(
  run: (items: In[]) => Promise<Out[]>,
  options: BatcherOptions<In>,
): (item: In, signal?: AbortSignal) => Promise<Out> {
  const batches = new Batcher(run, options);
  return (item, signal) => batches.add(item, signal);
}

/** An item that waits for its statement or is in flight. */
interface WaitingItem<In, Out> {
  item: In;
  bytes: number;
  keys: readonly string[];
  /** True if the item was in a shared statement that failed. */
  failed: boolean;
  signal: AbortSignal | undefined;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

interface Party<In, Out> {
  name: string;
  /** The items of a failed statement come first. */
  waiting: WaitingItem<In, Out>[];
}

/**
 * Lets parties take turns. Each party has at most one statement in flight. Parties whose latest statement ended in a
 * lock time-out have at most half of the statements in flight, so that they leave connections to others.
 */
class Batcher<In, Out> {
  readonly #run: (items: In[]) => Promise<Out[]>;
  readonly #options: BatcherOptions<In>;
  readonly #maxInFlight: number;
  /** Parties with waiting or running items. The party whose turn is next comes first. */
  readonly #parties = new Map<string, Party<In, Out>>();
  /** Parties with a statement in flight. */
  readonly #running = new Set<Party<In, Out>>();
  /** Number of consecutive lock time-outs, by name of party. */
  readonly #lockTimeouts = new LRUCache<string, number>({ max: LOCKED_PARTIES_MAX });
  #startLater: NodeJS.Immediate | undefined;

  constructor(run: (items: In[]) => Promise<Out[]>, options: BatcherOptions<In>) {
    this.#run = run;
    this.#options = options;
    this.#maxInFlight = options.maxInFlight ?? (options.partyOf === undefined ? 1 : 4);
  }

  add(item: In, signal?: AbortSignal): Promise<Out> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { partyOf, bytesOf, keysOf } = this.#options;
    const name = partyOf?.(item) ?? '';
    const party = this.#parties.get(name) ?? { name, waiting: [] };
    this.#parties.set(name, party);
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const size = { bytes: bytesOf?.(item) ?? 0, keys: keysOf?.(item) ?? [] };
    const waiting: WaitingItem<In, Out> = { item, ...size, failed: false, signal, resolve, reject };
    const leave = () => this.#leave(party, waiting);
    const stopListening = () => signal?.removeEventListener('abort', leave);
    promise.then(stopListening, stopListening);
    signal?.addEventListener('abort', leave);
    party.waiting.push(waiting);
    this.#startSoon();
    return promise;
  }

  #leave(party: Party<In, Out>, one: WaitingItem<In, Out>): void {
    const place = party.waiting.indexOf(one);
    if (place === -1) return;
    party.waiting.splice(place, 1);
    if (party.waiting.length === 0 && !this.#running.has(party)) this.#parties.delete(party.name);
    one.reject(one.signal?.reason);
  }

  #startSoon(): void {
    if (!this.#options.isBusy?.()) this.#start();
    else
      this.#startLater ??= setImmediate(() => {
        this.#startLater = undefined;
        this.#start();
      });
  }

  #start(): void {
    for (const party of this.#parties.values()) {
      if (this.#running.size === this.#maxInFlight) return;
      if (this.#mayStart(party)) void this.#send(party, this.#takeBatch(party));
    }
  }

  #mayStart(party: Party<In, Out>): boolean {
    if (this.#running.has(party)) return false;
    const isLocked = ({ name }: Party<In, Out>) => this.#lockTimeouts.has(name);
    return !isLocked(party) || [...this.#running].filter(isLocked).length < this.#maxInFlight / 2;
  }

  #takeBatch(party: Party<In, Out>): WaitingItem<In, Out>[] {
    const { maxItems, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    if (party.waiting[0]?.failed) return party.waiting.splice(0, 1);
    const batch: WaitingItem<In, Out>[] = [];
    const skipped: WaitingItem<In, Out>[] = [];
    // Keys of taken and of skipped items. A later item with one of these keys must not overtake them.
    const keys = new Set<string>();
    let bytes = 0;
    for (const one of party.waiting) {
      if (batch.length === maxItems) break;
      const isFree = !one.keys.some((key) => keys.has(key));
      if (isFree && batch.length > 0 && bytes + one.bytes > maxBytes) break;
      (isFree ? batch : skipped).push(one);
      if (isFree) bytes += one.bytes;
      for (const key of one.keys) keys.add(key);
    }
    party.waiting = [...skipped, ...party.waiting.slice(batch.length + skipped.length)];
    return batch;
  }

  async #send(party: Party<In, Out>, batch: WaitingItem<In, Out>[]): Promise<void> {
    this.#running.add(party);
    try {
      const outputs = await this.#run(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(outputs[place] as Out);
      this.#lockTimeouts.delete(party.name);
    } catch (error) {
      this.#fail(party, batch, error);
    } finally {
      this.#running.delete(party);
      // Moves the party to the end.
      this.#parties.delete(party.name);
      if (party.waiting.length > 0) this.#parties.set(party.name, party);
      this.#startSoon();
    }
  }

  #fail(party: Party<In, Out>, batch: WaitingItem<In, Out>[], error: unknown): void {
    const timeouts = isLockTimeout(error) ? (this.#lockTimeouts.get(party.name) ?? 0) + 1 : 0;
    if (timeouts > 0) this.#lockTimeouts.set(party.name, timeouts);
    else this.#lockTimeouts.delete(party.name);
    if (isUnavailable(error) || timeouts >= LOCK_TIMEOUTS_MAX) {
      const failed = party.waiting.filter((one) => one.failed);
      party.waiting.splice(0, failed.length);
      for (const { reject } of [...batch, ...failed]) reject(error);
    } else if (batch.length === 1) {
      batch[0]?.reject(error);
    } else {
      for (const one of batch) one.failed = true;
      party.waiting.unshift(...batch);
      // Withdraws items whose callers left while the statement was in flight.
      for (const one of batch) if (one.signal?.aborted) this.#leave(party, one);
    }
  }
}
