import { DelayedCall } from '../timing/later.ts';
import { isLockTimeout, isUnavailable } from './faults.ts';

/** Time after which a statement in flight counts as slow. It is most likely waiting for a lock. */
const SLOW_AFTER_MS = 200;
/**
 * Maximum number of one party's items that run alone (each in its own statement) at the same time. After this many
 * consecutive lock time-outs of items that ran alone in a lane, the items that still wait to run alone in that lane
 * fail too. The items without a lane count together, like a lane.
 */
const LONE_ITEMS_MAX = 4;
/** Maximum number of parties and lanes whose lock time-outs are remembered. */
const REMEMBERED_NAMES_MAX = 1000;

export interface BatcherOptions<In> {
  maxItems: number;
  /**
   * Party of an item, such as an account. A batch contains items of one party, and a slow party does not delay others.
   * By default, there is only one party.
   */
  partyOf?: (item: In) => string;
  /**
   * Lane of an item within its party. All items of a lane take the same database lock, which no other item takes. By
   * default, or if null, an item has no lane.
   */
  laneOf?: (item: In) => string | null;
  /** Size of an item, in bytes or characters. A batch holds at most `maxBytes` of them, or a single larger item. */
  bytesOf?: (item: In) => number;
  maxBytes?: number;
  /** Items of one party that have a key in common never share a batch; the later one waits. */
  keysOf?: (item: In) => readonly string[];
  /**
   * Maximum number of statements in flight over all parties, each on a connection of its own: by default 1, or 4 with
   * `partyOf`. Twice as many while some are stuck.
   */
  maxInFlight?: number;
  /** While this returns true, a statement waits for more items to share it, for at most `patienceMs`. */
  isBusy?: () => boolean;
  /**
   * Maximum time that an item waits for others while `isBusy`; by default, to the end of the event loop's turn.
   * `waiting` is the number of its party's waiting items.
   */
  patienceMs?: (item: In, waiting: number) => number;
}

/**
 * Combines the items of several callers into one statement. Callers that arrive while a statement of their party runs
 * share the next one. A lone caller's statement starts at once, unless `isBusy`. If `signal` aborts, an item that still
 * waits is withdrawn.
 *
 * `run` returns one output for each item, in the same order. When a shared statement fails, its items are retried
 * alone, so that a bad item does not fail the others. If the database is unreachable, all of them fail at once. After
 * `LONE_ITEMS_MAX` lock time-outs in a row, the items not retried yet fail.
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
  /** Name of the item's lane, unique among the lanes of all parties. */
  lane: string | undefined;
  /** True if the item was in a shared statement that failed. */
  failed: boolean;
  signal: AbortSignal | undefined;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

interface Party<In, Out> {
  name: string;
  waiting: WaitingItem<In, Out>[];
  inFlight: Set<Flight<In, Out>>;
}

/** A statement in flight. */
interface Flight<In, Out> {
  party: Party<In, Out>;
  batch: WaitingItem<In, Out>[];
  /** True if the item in `batch` must run alone. */
  alone: boolean;
  slow: boolean;
}

/**
 * Lets parties take turns. Each party has at most one shared statement in flight. After a lock time-out in a lane, the
 * lane's items run alone, one at a time, beside the party's shared statements, until one of the items succeeds. So a
 * locked lane delays the party's other lanes by only one time-out.
 *
 * A statement counts as stuck if it is slow, if it runs an item alone, or if the party's latest statement ended in a
 * lock time-out. There are `maxInFlight` places for stuck statements, and as many for others. So a party whose rows are
 * locked takes only one place from other parties, and only until its first statement counts as stuck.
 */
class Batcher<In, Out> {
  readonly #run: (items: In[]) => Promise<Out[]>;
  readonly #options: BatcherOptions<In>;
  readonly #maxInFlight: number;
  /** Parties with waiting or running items. The party whose turn is next comes first. */
  readonly #parties = new Map<string, Party<In, Out>>();
  /** Parties whose next statement may count as stuck, and possibly others. The party whose turn is next comes first. */
  readonly #suspects = new Set<Party<In, Out>>();
  readonly #inFlight = new Set<Flight<In, Out>>();
  readonly #timeouts = new LockTimeouts();
  readonly #startLater = new DelayedCall(() => this.#start());

  constructor(run: (items: In[]) => Promise<Out[]>, options: BatcherOptions<In>) {
    this.#run = run;
    this.#options = options;
    this.#maxInFlight = options.maxInFlight ?? (options.partyOf === undefined ? 1 : 4);
  }

  add(item: In, signal?: AbortSignal): Promise<Out> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { partyOf, laneOf, bytesOf, keysOf } = this.#options;
    const party = this.#party(partyOf?.(item) ?? '');
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const lane = laneOf?.(item) ?? undefined;
    const fields = { item, bytes: bytesOf?.(item) ?? 0, keys: keysOf?.(item) ?? [], failed: false, signal };
    const leave = () => this.#leave(party, waiting);
    const stopListening = () => signal?.removeEventListener('abort', leave);
    promise.then(stopListening, stopListening);
    const waiting: WaitingItem<In, Out> = {
      ...fields,
      lane: lane && `${party.name} ${lane}`,
      resolve,
      reject,
    };
    signal?.addEventListener('abort', leave);
    party.waiting.push(waiting);
    if (this.#timeouts.has(party.name) || this.#isAlone(waiting)) this.#suspects.add(party);
    this.#startWithin(this.#options.patienceMs?.(item, party.waiting.length) ?? 0);
    return promise;
  }

  #party(name: string): Party<In, Out> {
    const existing = this.#parties.get(name);
    if (existing !== undefined) return existing;
    const party = { name, waiting: [], inFlight: new Set<Flight<In, Out>>() };
    this.#parties.set(name, party);
    return party;
  }

  #leave(party: Party<In, Out>, one: WaitingItem<In, Out>): void {
    const place = party.waiting.indexOf(one);
    if (place === -1) return;
    party.waiting.splice(place, 1);
    if (isIdle(party)) this.#forget(party);
    one.reject(one.signal?.reason);
  }

  #startWithin(ms: number): void {
    if (this.#options.isBusy?.()) this.#startLater.callWithin(ms);
    else this.#start();
  }

  /** Runs for each new item, so it must not check many parties that have nothing to start. */
  #start(): void {
    for (const stuck of [false, true]) {
      // A party whose statement starts moves to the end, where this loop meets it again.
      for (const party of stuck ? this.#suspects : this.#parties.values()) {
        if (!this.#hasPlace(stuck)) break;
        const flight = this.#nextFlight(party, false, stuck) ?? this.#nextFlight(party, true, stuck);
        if (flight !== undefined) void this.#send(flight);
        else if (stuck && !this.#isSuspect(party)) this.#suspects.delete(party);
      }
    }
  }

  #hasPlace(stuck: boolean): boolean {
    const inPlaces = countOf(this.#inFlight, (flight) => this.#isStuck(flight) === stuck);
    return inPlaces < this.#maxInFlight && this.#inFlight.size < 2 * this.#maxInFlight;
  }

  #isSuspect({ name, waiting }: Party<In, Out>): boolean {
    return this.#timeouts.has(name) || waiting.some((one) => this.#isAlone(one));
  }

  #nextFlight(party: Party<In, Out>, alone: boolean, stuck: boolean): Flight<In, Out> | undefined {
    const next = { party, alone, batch: [], slow: false };
    if (this.#isStuck(next) !== stuck) return undefined;
    // Each consecutive lock time-out lowers the number of items that may run alone at the same time.
    const maxFlights = alone ? LONE_ITEMS_MAX - this.#timeouts.count(party.name) : 1;
    if (countOf(party.inFlight, (flight) => flight.alone === alone) >= maxFlights) return undefined;
    // Skips the search in `#takeBatch` for most parties, which have no item that must run alone.
    if (alone && !party.waiting.some((one) => this.#isAlone(one))) return undefined;
    const batch = this.#takeBatch(party, alone);
    return batch.length === 0 ? undefined : { ...next, batch };
  }

  #takeBatch(party: Party<In, Out>, alone: boolean): WaitingItem<In, Out>[] {
    const { maxItems, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    const batch: WaitingItem<In, Out>[] = [];
    const skipped: WaitingItem<In, Out>[] = [];
    // Keys of items in flight and of skipped items. A later item with one of these keys must not overtake them.
    const keys = new Set(
      [...party.inFlight].flatMap((flight) => flight.batch.flatMap((one) => keysOf(one, flight.alone))),
    );
    let bytes = 0;
    for (const one of party.waiting) {
      if (batch.length === (alone ? 1 : maxItems)) break;
      const itemKeys = keysOf(one, this.#isAlone(one));
      const isFree = this.#isAlone(one) === alone && !itemKeys.some((key) => keys.has(key));
      if (isFree && batch.length > 0 && bytes + one.bytes > maxBytes) break;
      (isFree ? batch : skipped).push(one);
      if (isFree) bytes += one.bytes;
      for (const key of itemKeys) keys.add(key);
    }
    if (batch.length > 0) party.waiting = [...skipped, ...party.waiting.slice(batch.length + skipped.length)];
    return batch;
  }

  #isStuck({ party, alone, slow }: Flight<In, Out>): boolean {
    return alone || slow || this.#timeouts.has(party.name);
  }

  #isAlone({ failed, lane }: WaitingItem<In, Out>): boolean {
    return failed || (lane !== undefined && this.#timeouts.has(lane));
  }

  #moveToEnd(party: Party<In, Out>): void {
    const wasSuspect = this.#suspects.has(party);
    this.#forget(party);
    if (isIdle(party)) return;
    this.#parties.set(party.name, party);
    if (wasSuspect) this.#suspects.add(party);
  }

  #forget(party: Party<In, Out>): void {
    this.#parties.delete(party.name);
    this.#suspects.delete(party);
  }

  async #send(flight: Flight<In, Out>): Promise<void> {
    const { party, batch } = flight;
    this.#inFlight.add(flight);
    party.inFlight.add(flight);
    this.#moveToEnd(party);
    const timer = setTimeout(() => {
      flight.slow = true;
      this.#start();
    }, SLOW_AFTER_MS);
    try {
      const outputs = await this.#run(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(outputs[place] as Out);
      this.#timeouts.forget(namesOf(flight));
    } catch (error) {
      this.#fail(flight, error);
    } finally {
      clearTimeout(timer);
      this.#inFlight.delete(flight);
      party.inFlight.delete(flight);
      this.#moveToEnd(party);
      this.#startWithin(0);
    }
  }

  #fail(flight: Flight<In, Out>, error: unknown): void {
    const { party, batch, alone } = flight;
    const names = namesOf(flight);
    this.#suspects.add(party);
    if (isLockTimeout(error)) this.#timeouts.note(names, { alone });
    else this.#timeouts.forget(names);
    if (batch.length > 1 && !isUnavailable(error)) {
      for (const one of batch) one.failed = true;
      party.waiting.unshift(...batch);
      // Withdraws items whose callers left while the statement was in flight.
      for (const one of batch) if (one.signal?.aborted) this.#leave(party, one);
      return;
    }
    for (const { reject } of batch) reject(error);
    // After so many consecutive time-outs, the rest would only wait for the same lock, one after the other.
    const [name = party.name] = names;
    const isHopeless = this.#timeouts.count(name) >= LONE_ITEMS_MAX;
    if (!isUnavailable(error) && !isHopeless) return;
    if (isHopeless) this.#timeouts.restart(name);
    const isRest = (one: WaitingItem<In, Out>) =>
      this.#isAlone(one) && (isUnavailable(error) || (one.lane ?? party.name) === name);
    const rest = party.waiting.filter(isRest);
    party.waiting = party.waiting.filter((one) => !isRest(one));
    for (const { reject } of rest) reject(error);
  }
}

function countOf<One>(all: Iterable<One>, predicate: (one: One) => boolean): number {
  return [...all].filter(predicate).length;
}

function isIdle<In, Out>({ waiting, inFlight }: Party<In, Out>): boolean {
  return waiting.length === 0 && inFlight.size === 0;
}

/** Returns the keys of an item. The lane of an item that runs alone counts as a key. */
function keysOf<In, Out>({ keys, lane }: WaitingItem<In, Out>, alone: boolean): readonly string[] {
  return alone && lane !== undefined ? [...keys, lane] : keys;
}

/**
 * Returns the names to which a statement's outcome applies: the party and the lanes of the items, or only the lane if
 * an item of a lane runs alone.
 */
function namesOf<In, Out>({ party, batch, alone }: Flight<In, Out>): string[] {
  const lanes = batch.flatMap(({ lane }) => lane ?? []);
  return alone && lanes.length > 0 ? lanes : [party.name, ...lanes];
}

/** The parties and lanes whose latest statement ended in a lock time-out. */
class LockTimeouts {
  /**
   * Number of consecutive lock time-outs of items that ran alone, by name of party or lane; 0 if only a shared
   * statement timed out. The names with the oldest time-outs come first.
   */
  readonly #counts = new Map<string, number>();

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  note(names: readonly string[], { alone }: { alone: boolean }): void {
    for (const name of names) {
      const before = this.count(name);
      this.#counts.delete(name);
      this.#counts.set(name, before + (alone ? 1 : 0));
    }
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= REMEMBERED_NAMES_MAX) return;
      this.#counts.delete(oldest);
    }
  }

  restart(name: string): void {
    this.#counts.set(name, 0);
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#counts.delete(name);
  }
}
