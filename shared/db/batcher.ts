import { Later } from '../timing/later.ts';
import { isLockTimeout, isUnavailable } from './faults.ts';

/** A statement in flight for longer is most likely waiting for a lock. */
const SLOW_MS = 200;
/** The items of one party that are tried alone at once, and the lock time-outs in a row that fail the rest. */
const ALONE_AT_ONCE = 4;
/** The most parties and lanes that are remembered for their lock time-outs. */
const NAMES_MAX = 1000;

export interface BatcherOptions<In> {
  /** Most items in one statement. */
  most: number;
  /** An item's party: a batch holds items of one party, and a slow party delays no other. One party by default. */
  partyOf?: (item: In) => string;
  /** An item's lane in its party: what it locks that items of other lanes do not. Null, the default: nothing. */
  laneOf?: (item: In) => string | null;
  /** An item's bytes: a batch holds at most `maxBytes`, or a single larger item. */
  bytesOf?: (item: In) => number;
  maxBytes?: number;
  /** Items of one party with a key in common never share a batch: the later one waits for the next. */
  keysOf?: (item: In) => readonly string[];
  /**
   * Statements in flight at once over all parties, each holding a connection: 1 by default, 4 with `partyOf`. Twice as
   * many while some are stuck or tried alone.
   */
  atOnce?: number;
  /**
   * True if the process has more to do: then all that arrive in one turn of the event loop share a statement, or until
   * the first of them has waited for its `patienceMs`, given how many of its party wait with it.
   */
  isBusy?: () => boolean;
  patienceMs?: (item: In, waiting: number) => number;
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

/** An item that waits for its statement, or is in flight. */
interface Waiting<In, Out> {
  item: In;
  bytes: number;
  keys: readonly string[];
  /** The name of its lane among those of all parties. */
  lane: string | undefined;
  /** True if it was in a shared statement that failed. */
  failed: boolean;
  gone: AbortSignal | undefined;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

interface Party<In, Out> {
  name: string;
  waiting: Waiting<In, Out>[];
  inFlight: Set<Flight<In, Out>>;
}

/** A statement in flight. */
interface Flight<In, Out> {
  party: Party<In, Out>;
  batch: Waiting<In, Out>[];
  /** True for an item that is tried alone. */
  alone: boolean;
  slow: boolean;
}

/**
 * Parties take turns, and each has one shared statement in flight at most. When it ends in a lock time-out, the lanes of
 * its items are tried alone beside the next ones, one item of a lane at a time, until the lane succeeds. So a locked
 * lane costs the other lanes of its party one time-out, and then nothing.
 *
 * A statement is stuck when it is slow, of an item tried alone, or of a party whose latest one ended in a lock time-out.
 * Stuck statements and the others have `atOnce` places each. So of the others' places a locked party takes one, and that
 * only until it is known to be locked, however many lanes it has.
 */
class Batcher<In, Out> {
  readonly #run: (items: In[]) => Promise<Out[]>;
  readonly #options: BatcherOptions<In>;
  readonly #atOnce: number;
  /** The parties with something waiting or in flight, next in turn first. */
  readonly #parties = new Map<string, Party<In, Out>>();
  /** The parties whose next statement may be stuck, and perhaps others; next in turn first. */
  readonly #troubled = new Set<Party<In, Out>>();
  readonly #inFlight = new Set<Flight<In, Out>>();
  /** The lock time-outs of parties and lanes. */
  readonly #timeouts = new LockTimeouts();
  readonly #startLater = new Later(() => this.#start());

  constructor(run: (items: In[]) => Promise<Out[]>, options: BatcherOptions<In>) {
    this.#run = run;
    this.#options = options;
    this.#atOnce = options.atOnce ?? (options.partyOf === undefined ? 1 : 4);
  }

  add(item: In, gone?: AbortSignal): Promise<Out> {
    if (gone?.aborted) return Promise.reject(gone.reason);
    const { partyOf, laneOf, bytesOf, keysOf } = this.#options;
    const party = this.#party(partyOf?.(item) ?? '');
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const lane = laneOf?.(item) ?? undefined;
    const one = { item, bytes: bytesOf?.(item) ?? 0, keys: keysOf?.(item) ?? [], failed: false, gone };
    const leave = () => this.#leave(party, waiting);
    const settled = () => gone?.removeEventListener('abort', leave);
    promise.then(settled, settled);
    const waiting: Waiting<In, Out> = { ...one, lane: lane && `${party.name} ${lane}`, resolve, reject };
    gone?.addEventListener('abort', leave);
    party.waiting.push(waiting);
    if (this.#timeouts.has(party.name) || this.#isAlone(waiting)) this.#troubled.add(party);
    this.#startWithin(this.#options.patienceMs?.(item, party.waiting.length) ?? 0);
    return promise;
  }

  #party(name: string): Party<In, Out> {
    const known = this.#parties.get(name);
    if (known !== undefined) return known;
    const party = { name, waiting: [], inFlight: new Set<Flight<In, Out>>() };
    this.#parties.set(name, party);
    return party;
  }

  #leave(party: Party<In, Out>, one: Waiting<In, Out>): void {
    const place = party.waiting.indexOf(one);
    if (place === -1) return;
    party.waiting.splice(place, 1);
    if (isIdle(party)) this.#forget(party);
    one.reject(one.gone?.reason);
  }

  #startWithin(ms: number): void {
    if (this.#options.isBusy?.()) this.#startLater.within(ms);
    else this.#start();
  }

  /** Starts what may start, parties in turn. It runs for each item, so it passes over few that may not, however many wait. */
  #start(): void {
    for (const stuck of [false, true]) {
      // A party whose statement starts moves to the end, where this loop meets it again.
      for (const party of stuck ? this.#troubled : this.#parties.values()) {
        if (!this.#hasPlace(stuck)) break;
        const flight = this.#next(party, false, stuck) ?? this.#next(party, true, stuck);
        if (flight !== undefined) void this.#fly(flight);
        else if (stuck && !this.#isTroubled(party)) this.#troubled.delete(party);
      }
    }
  }

  #hasPlace(stuck: boolean): boolean {
    const alike = countOf(this.#inFlight, (flight) => this.#isStuck(flight) === stuck);
    return alike < this.#atOnce && this.#inFlight.size < 2 * this.#atOnce;
  }

  #isTroubled({ name, waiting }: Party<In, Out>): boolean {
    return this.#timeouts.has(name) || waiting.some((one) => this.#isAlone(one));
  }

  #next(party: Party<In, Out>, alone: boolean, stuck: boolean): Flight<In, Out> | undefined {
    const next = { party, alone, batch: [], slow: false };
    if (this.#isStuck(next) !== stuck) return undefined;
    // Each time-out in a row leaves one fewer to try.
    const most = alone ? ALONE_AT_ONCE - this.#timeouts.inARow(party.name) : 1;
    if (countOf(party.inFlight, (flight) => flight.alone === alone) >= most) return undefined;
    // Most parties have nothing to try alone: spares them the search.
    if (alone && !party.waiting.some((one) => this.#isAlone(one))) return undefined;
    const batch = this.#takeBatch(party, alone);
    return batch.length === 0 ? undefined : { ...next, batch };
  }

  /** Takes the first items that may share a statement, at most `maxBytes` of them or a single larger one. */
  #takeBatch(party: Party<In, Out>, alone: boolean): Waiting<In, Out>[] {
    const { most, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    const batch: Waiting<In, Out>[] = [];
    const passed: Waiting<In, Out>[] = [];
    // A passed item keeps its keys, too: nothing that shares one may overtake it.
    const keys = new Set(
      [...party.inFlight].flatMap((flight) => flight.batch.flatMap((one) => keysOf(one, flight.alone))),
    );
    let bytes = 0;
    for (const one of party.waiting) {
      if (batch.length === (alone ? 1 : most)) break;
      const own = keysOf(one, this.#isAlone(one));
      const isFree = this.#isAlone(one) === alone && !own.some((key) => keys.has(key));
      if (isFree && batch.length > 0 && bytes + one.bytes > maxBytes) break;
      (isFree ? batch : passed).push(one);
      if (isFree) bytes += one.bytes;
      for (const key of own) keys.add(key);
    }
    if (batch.length > 0) party.waiting = [...passed, ...party.waiting.slice(batch.length + passed.length)];
    return batch;
  }

  #isStuck({ party, alone, slow }: Flight<In, Out>): boolean {
    return alone || slow || this.#timeouts.has(party.name);
  }

  #isAlone({ failed, lane }: Waiting<In, Out>): boolean {
    return failed || (lane !== undefined && this.#timeouts.has(lane));
  }

  #toEnd(party: Party<In, Out>): void {
    const wasTroubled = this.#troubled.has(party);
    this.#forget(party);
    if (isIdle(party)) return;
    this.#parties.set(party.name, party);
    if (wasTroubled) this.#troubled.add(party);
  }

  #forget(party: Party<In, Out>): void {
    this.#parties.delete(party.name);
    this.#troubled.delete(party);
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
      this.#timeouts.forget(namesOf(flight));
    } catch (error) {
      this.#fail(flight, error);
    } finally {
      clearTimeout(timer);
      this.#inFlight.delete(flight);
      party.inFlight.delete(flight);
      this.#toEnd(party);
      this.#startWithin(0);
    }
  }

  #fail(flight: Flight<In, Out>, error: unknown): void {
    const { party, batch, alone } = flight;
    const names = namesOf(flight);
    this.#troubled.add(party);
    if (isLockTimeout(error)) this.#timeouts.note(names, { alone });
    else this.#timeouts.forget(names);
    if (batch.length > 1 && !isUnavailable(error)) {
      for (const one of batch) one.failed = true;
      party.waiting.unshift(...batch);
      // Entries whose callers left while the statement was in flight leave now.
      for (const one of batch) if (one.gone?.aborted) this.#leave(party, one);
      return;
    }
    for (const { reject } of batch) reject(error);
    // So many in a row wait for the same lock: the rest would only wait for it in turn.
    const [name = party.name] = names;
    const isHopeless = this.#timeouts.inARow(name) >= ALONE_AT_ONCE;
    if (!isUnavailable(error) && !isHopeless) return;
    if (isHopeless) this.#timeouts.restart(name);
    const isRest = (one: Waiting<In, Out>) =>
      this.#isAlone(one) && (isUnavailable(error) || (one.lane ?? party.name) === name);
    const rest = party.waiting.filter(isRest);
    party.waiting = party.waiting.filter((one) => !isRest(one));
    for (const { reject } of rest) reject(error);
  }
}

function countOf<One>(all: Iterable<One>, is: (one: One) => boolean): number {
  return [...all].filter(is).length;
}

/** Checks that nothing of it waits or is in flight. */
function isIdle<In, Out>({ waiting, inFlight }: Party<In, Out>): boolean {
  return waiting.length === 0 && inFlight.size === 0;
}

/** An item tried alone keeps its lane to itself. */
function keysOf<In, Out>({ keys, lane }: Waiting<In, Out>, alone: boolean): readonly string[] {
  return alone && lane !== undefined ? [...keys, lane] : keys;
}

/** The party or lanes whose locks a statement shows to be held or free. */
function namesOf<In, Out>({ party, batch, alone }: Flight<In, Out>): string[] {
  const lanes = batch.flatMap(({ lane }) => lane ?? []);
  return alone && lanes.length > 0 ? lanes : [party.name, ...lanes];
}

/** Remembers whose latest statement ended in a lock time-out. */
class LockTimeouts {
  /** The time-outs in a row of items tried alone, oldest first; 0 when only a shared statement timed out. */
  readonly #inARow = new Map<string, number>();

  has(name: string): boolean {
    return this.#inARow.has(name);
  }

  inARow(name: string): number {
    return this.#inARow.get(name) ?? 0;
  }

  note(names: readonly string[], { alone }: { alone: boolean }): void {
    for (const name of names) {
      const before = this.inARow(name);
      this.#inARow.delete(name);
      this.#inARow.set(name, before + (alone ? 1 : 0));
    }
    for (const oldest of this.#inARow.keys()) {
      if (this.#inARow.size <= NAMES_MAX) return;
      this.#inARow.delete(oldest);
    }
  }

  /** Counts from the start again. */
  restart(name: string): void {
    this.#inARow.set(name, 0);
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#inARow.delete(name);
  }
}
