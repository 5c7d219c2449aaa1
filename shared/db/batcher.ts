import { isLockTimeout, isUnavailable } from './faults.ts';

/** A statement in flight for longer is most likely waiting for a lock. */
const SLOW_MS = 200;
/** How many items of one party are tried alone at once, and how many lock time-outs in a row fail the rest. */
const ALONE_AT_ONCE = 4;
/** How many parties are remembered as stuck. */
const STUCK_MAX = 1000;

export interface BatcherOptions<In> {
  /** Most items in one statement. */
  most: number;
  /** An item's party: a batch holds items of one party, and a slow party delays no other. One party by default. */
  partyOf?: (item: In) => string;
  /** An item's bytes: a batch holds at most `maxBytes`, or a single larger item. */
  bytesOf?: (item: In) => number;
  maxBytes?: number;
  /** Items of one party with a key in common never share a batch: the later one waits for the next. */
  keysOf?: (item: In) => readonly string[];
  /**
   * Statements in flight at once over all parties, each holding a connection: 1 by default, 4 with `partyOf`. Twice as
   * many while some are stuck.
   */
  atOnce?: number;
  /** Whether the process has more to do: then all that arrive in one turn of the event loop share a statement. */
  isBusy?: () => boolean;
}

interface Waiting<In, Out> {
  item: In;
  bytes: number;
  keys: readonly string[];
  /** It was in a shared statement that failed. */
  alone: boolean;
  gone: AbortSignal | undefined;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

interface Party<In, Out> {
  name: string;
  waiting: Waiting<In, Out>[];
  inFlight: Set<Flight<In, Out>>;
  /** Lock time-outs in a row of items that were tried alone. */
  timeouts: number;
}

interface Flight<In, Out> {
  party: Party<In, Out>;
  batch: Waiting<In, Out>[];
  slow: boolean;
}

/**
 * Callers that arrive while a statement of their party is in flight share the next one. A lone caller is not delayed:
 * its statement starts at once, unless `isBusy`.
 *
 * `run` takes up to `most` items and returns one output for each, in the same order. When a shared statement fails, its
 * items are retried alone, so that one item's fault or lock never fails another; unless the database is unreachable,
 * which fails them all. A caller whose `gone` aborts leaves while its item waits; an item in flight stays.
 */
export function batcher<In, Out>(
  run: (items: In[]) => Promise<Out[]>,
  options: BatcherOptions<In>,
): (item: In, gone?: AbortSignal) => Promise<Out> {
  const batches = new Batcher(run, options);
  return (item, gone) => batches.add(item, gone);
}

/**
 * Parties take turns. A statement is stuck when it is slow, or when its party's latest one ended in a lock time-out. Stuck
 * statements and the others have `atOnce` places each, so that parties known to be stuck never hold all of them. Those
 * not yet known may, until their first lock time-out: at most `2 * atOnce` are in flight in all.
 */
class Batcher<In, Out> {
  readonly #run: (items: In[]) => Promise<Out[]>;
  readonly #options: BatcherOptions<In>;
  readonly #atOnce: number;
  /** With something waiting or in flight, next in turn first. */
  readonly #parties = new Map<string, Party<In, Out>>();
  readonly #inFlight = new Set<Flight<In, Out>>();
  /** Names of the parties whose latest statement ended in a lock time-out. */
  readonly #stuck = new Set<string>();
  #startsSoon = false;

  constructor(run: (items: In[]) => Promise<Out[]>, options: BatcherOptions<In>) {
    this.#run = run;
    this.#options = options;
    this.#atOnce = options.atOnce ?? (options.partyOf === undefined ? 1 : 4);
  }

  add(item: In, gone?: AbortSignal): Promise<Out> {
    if (gone?.aborted) return Promise.reject(gone.reason);
    const { partyOf, bytesOf, keysOf } = this.#options;
    const party = this.#party(partyOf?.(item) ?? '');
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const one = { item, bytes: bytesOf?.(item) ?? 0, keys: keysOf?.(item) ?? [], alone: false, gone };
    const leave = () => this.#leave(party, waiting);
    const settled = () => gone?.removeEventListener('abort', leave);
    const waiting: Waiting<In, Out> = {
      ...one,
      resolve: (out) => {
        settled();
        resolve(out);
      },
      reject: (error) => {
        settled();
        reject(error);
      },
    };
    gone?.addEventListener('abort', leave);
    party.waiting.push(waiting);
    this.#startSoon();
    return promise;
  }

  #party(name: string): Party<In, Out> {
    const known = this.#parties.get(name);
    if (known !== undefined) return known;
    const party = { name, waiting: [], inFlight: new Set<Flight<In, Out>>(), timeouts: 0 };
    this.#parties.set(name, party);
    return party;
  }

  #leave(party: Party<In, Out>, one: Waiting<In, Out>): void {
    const place = party.waiting.indexOf(one);
    if (place === -1) return;
    party.waiting.splice(place, 1);
    if (isIdle(party)) this.#parties.delete(party.name);
    one.reject(one.gone?.reason);
  }

  #startSoon(): void {
    if (this.#startsSoon) return;
    this.#startsSoon = true;
    const start = () => {
      this.#startsSoon = false;
      this.#start();
    };
    if (this.#options.isBusy?.()) setImmediate(start);
    else start();
  }

  /** Starts what may start, parties in turn. */
  #start(): void {
    // A party whose statement starts moves to the end, where this loop meets it again.
    for (const party of this.#parties.values()) {
      if (this.#inFlight.size >= 2 * this.#atOnce) return;
      if (!this.#hasPlace(party)) continue;
      const batch = this.#take(party);
      if (batch.length > 0) void this.#fly({ party, batch, slow: false });
    }
  }

  #hasPlace({ name }: Party<In, Out>): boolean {
    const isStuck = this.#stuck.has(name);
    let taken = 0;
    for (const { party, slow } of this.#inFlight)
      if ((slow || this.#stuck.has(party.name)) === isStuck) taken += 1;
    return taken < this.#atOnce;
  }

  #toEnd(party: Party<In, Out>): void {
    this.#parties.delete(party.name);
    if (!isIdle(party)) this.#parties.set(party.name, party);
  }

  /** Removes the party's next batch from what waits, in order; empty while none may start. */
  #take(party: Party<In, Out>): Waiting<In, Out>[] {
    const { waiting, inFlight } = party;
    const alone = waiting[0]?.alone === true;
    // Each time-out in a row leaves one fewer to try.
    if (inFlight.size >= (alone ? ALONE_AT_ONCE - party.timeouts : 1)) return [];
    const { most, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    const batch: Waiting<In, Out>[] = [];
    const passed: Waiting<In, Out>[] = [];
    // A passed item keeps its keys, too: nothing that shares one may overtake it.
    const keys = new Set([...inFlight].flatMap((flight) => flight.batch.flatMap((one) => one.keys)));
    let bytes = 0;
    let looked = 0;
    for (const one of waiting) {
      if (batch.length === (alone ? 1 : most) || one.alone !== alone) break;
      const isFree = !one.keys.some((key) => keys.has(key));
      if (isFree && batch.length > 0 && bytes + one.bytes > maxBytes) break;
      (isFree ? batch : passed).push(one);
      if (isFree) bytes += one.bytes;
      for (const key of one.keys) keys.add(key);
      looked += 1;
    }
    if (batch.length > 0) party.waiting = [...passed, ...waiting.slice(looked)];
    return batch;
  }

  async #fly(flight: Flight<In, Out>): Promise<void> {
    const { party, batch } = flight;
    this.#inFlight.add(flight);
    party.inFlight.add(flight);
    this.#toEnd(party);
    const timer = setTimeout(() => {
      flight.slow = true;
      this.#start();
    }, SLOW_MS);
    try {
      const outputs = await this.#run(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(outputs[place] as Out);
      party.timeouts = 0;
      this.#stuck.delete(party.name);
    } catch (error) {
      this.#fail(party, batch, error);
    } finally {
      clearTimeout(timer);
      this.#inFlight.delete(flight);
      party.inFlight.delete(flight);
      this.#toEnd(party);
      this.#startSoon();
    }
  }

  #fail(party: Party<In, Out>, batch: Waiting<In, Out>[], error: unknown): void {
    this.#note(party, error);
    if (batch.length > 1 && !isUnavailable(error)) {
      party.timeouts = 0;
      for (const one of batch) one.alone = true;
      party.waiting.unshift(...batch);
      // Those whose callers left while the statement was in flight leave now.
      for (const one of batch) if (one.gone?.aborted) this.#leave(party, one);
      return;
    }
    for (const { reject } of batch) reject(error);
    party.timeouts = isLockTimeout(error) && batch[0]?.alone ? party.timeouts + 1 : 0;
    // That many in a row wait for the same lock: the rest would only wait for it in turn.
    if (!isUnavailable(error) && party.timeouts < ALONE_AT_ONCE) return;
    const rest = party.waiting.filter(({ alone }) => alone);
    party.waiting = party.waiting.filter(({ alone }) => !alone);
    for (const { reject } of rest) reject(error);
  }

  #note({ name }: Party<In, Out>, error: unknown): void {
    this.#stuck.delete(name);
    if (!isLockTimeout(error)) return;
    this.#stuck.add(name);
    const [oldest] = this.#stuck;
    if (this.#stuck.size > STUCK_MAX && oldest !== undefined) this.#stuck.delete(oldest);
  }
}

function isIdle<In, Out>({ waiting, inFlight }: Party<In, Out>): boolean {
  return waiting.length === 0 && inFlight.size === 0;
}
