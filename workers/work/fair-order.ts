import type { Claim, Flow, FlowAsk } from '../../shared/db/stores/work/claim.ts';
import { type Kind, type Kinds, kindNamed, type PartyClass } from '../../shared/work/kind.ts';

/** Asks for the oldest queued pieces of a flow. */
export interface Ask extends FlowAsk {
  /** The slots reserved for its pieces; others may only be claimed in the place of pieces that were not found. */
  readonly reserved: number;
  /** The number of announcements before the ask. */
  readonly seq: number;
}

interface KnownFlow extends Flow {
  readonly of: Kind;
  /** Pieces that it runs here, and slots that are set aside for it. */
  held: number;
  /** True if it is known to have queued work. */
  isReady: boolean;
  seq: number;
  sinceMs: number | null;
}

/**
 * A flow may hold at most fifteen times as many slots as then stay free: a dynamic threshold, as switches use for shared
 * buffers (Choudhury and Hahne 1998). A lone party gets all slots but a sixteenth, and however many parties flood, the
 * next one finds a free slot.
 */
const THRESHOLD = 15;
/** The number of slots below which none are kept free. */
const FEWEST_SHARED = 4;
/** Most flows that are asked for beyond the free slots. */
const MOST_SPARE = 256;
/** A piece may become visible that much later than a younger one of its flow: its admission took longer to commit. */
const LATE_COMMIT_MS = 1000;

/**
 * The slots of one pool in this process, and the order in which flows get them. The next free slot goes to the class of
 * parties that holds fewer of them (apps before accounts), in it to the flow that holds the fewest here, and among those
 * to the one that has been at this number for longest. So with more slots than flows each holds as many, and with fewer
 * they take turns. What ends unserved changes nothing: the order is made when a slot is free, of what is held then.
 *
 * Every worker does this for its own slots, from what it has heard of: flows that others have served meanwhile are found
 * to be drained when it asks for them.
 */
export class FairOrder {
  readonly slots: number;
  readonly #kinds: Kinds;
  readonly #flows = new Map<string, KnownFlow>();
  /** The ready flows of each class, by the slots that they hold, the longest at that number first. */
  readonly #ready = { apps: new Map<number, Set<KnownFlow>>(), accounts: new Map<number, Set<KnownFlow>>() };
  readonly #held = { apps: 0, accounts: 0 };
  #seq = 0;
  /** The number of flows to ask for beyond the free slots: many when others have served most of what is known. */
  #spare = 0;

  /** `kinds` are those of the pool. */
  constructor(slots: number, kinds: Kinds) {
    this.slots = slots;
    this.#kinds = kinds;
  }

  get kinds(): string[] {
    return Object.keys(this.#kinds);
  }

  get free(): number {
    return this.slots - this.#held.apps - this.#held.accounts;
  }

  /** Checks whether any flow is known to have queued work. */
  get isReady(): boolean {
    return this.#ready.apps.size + this.#ready.accounts.size > 0;
  }

  /** The flow has queued something. Flows of other pools are ignored. */
  noteQueued({ kind, party }: Flow): void {
    if (!Object.hasOwn(this.#kinds, kind)) return;
    const name = nameOf({ kind, party });
    const flow = this.#flows.get(name) ?? this.#known(name, kind, party);
    this.#seq += 1;
    flow.seq = this.#seq;
    this.#setReady(flow, true);
  }

  /** Looks at the whole queue of each flow again: work that was given back is older than what followed it. Forgets idle ones. */
  refresh(): void {
    for (const [name, flow] of this.#flows) {
      flow.sinceMs = null;
      if (!flow.isReady && flow.held === 0) this.#flows.delete(name);
    }
  }

  /** The flows that come next, with slots set aside for at most `most` pieces. */
  ask(most: number = this.free): Ask[] {
    const counts = new Map<KnownFlow, number>();
    for (let left = most; left > 0; ) {
      const flow = this.#first();
      if (flow === undefined) break;
      const more = this.#inARow(flow, left);
      this.#hold(flow, more);
      counts.set(flow, (counts.get(flow) ?? 0) + more);
      left -= more;
    }
    if (counts.size === 0) return [];
    const asks = [...counts].map(([flow, count]) => this.#askFor(flow, count, count));
    for (const flow of this.#others(counts)) asks.push(this.#askFor(flow, 1, 0));
    return asks;
  }

  /**
   * The pieces that a claim found, and the flows of which it left some. Returns these, when it found none at all: others hold
   * their rows. One that found some may just have been full, with large requests.
   */
  answered(
    asks: readonly Ask[],
    claimed: readonly Pick<Claim, keyof Flow | 'queuedAtMs'>[],
    left: readonly Flow[],
  ): Flow[] {
    const pieces = Map.groupBy(claimed, nameOf);
    const names = new Set(left.map(nameOf));
    const blocked: Flow[] = [];
    for (const ask of asks) {
      const name = nameOf(ask);
      // It may have been forgotten as idle meanwhile.
      const flow = this.#flows.get(name) ?? this.#known(name, ask.kind, ask.party);
      const found = pieces.get(name) ?? [];
      for (const { queuedAtMs } of found)
        flow.sinceMs = Math.max(flow.sinceMs ?? 0, queuedAtMs - LATE_COMMIT_MS);
      // A flow that runs one piece at a time is never left: its next one waits for the end of this one.
      const mayHaveNext = flow.of.oneAtATime && found.length > 0;
      if (!names.has(name)) this.#setReady(flow, mayHaveNext || flow.seq > ask.seq);
      else if (claimed.length === 0 && ask.reserved > 0) {
        this.#setReady(flow, false);
        blocked.push({ kind: flow.kind, party: flow.party });
      }
      this.#hold(flow, found.length - ask.reserved);
    }
    const asked = asks.reduce((sum, { reserved }) => sum + reserved, 0);
    const isStale = claimed.length < asked;
    this.#spare = isStale ? Math.min(2 * this.#spare + 8, MOST_SPARE) : this.#spare >> 1;
    return blocked;
  }

  /** A slot that a piece of the flow held is free. */
  release(flow: Flow): void {
    const known = this.#flows.get(nameOf(flow));
    if (known !== undefined) this.#hold(known, -1);
  }

  #known(name: string, kind: string, party: string): KnownFlow {
    const of = kindNamed(this.#kinds, kind);
    const flow = { kind, party, of, held: 0, isReady: false, seq: 0, sinceMs: null };
    this.#flows.set(name, flow);
    return flow;
  }

  #askFor({ kind, party, sinceMs }: KnownFlow, count: number, reserved: number): Ask {
    return { kind, party, count, reserved, sinceMs, seq: this.#seq };
  }

  /** The flow that comes next; undefined when no flow may have one of the free slots. */
  #first(): KnownFlow | undefined {
    const { apps, accounts } = this.#held;
    const classes: PartyClass[] = apps <= accounts ? ['apps', 'accounts'] : ['accounts', 'apps'];
    const firsts = classes.flatMap((one) => this.#lowest(one) ?? []);
    // Slots are kept free only from all: where one flow would take a slot, the order says which does.
    return firsts.some(({ held }) => this.#mayHoldMore(held)) ? firsts[0] : undefined;
  }

  /** The slots that a flow gets before any other has its turn: one, but all that it may have if no other is ready. */
  #inARow(flow: KnownFlow, most: number): number {
    let more = 1;
    if (!this.#isOnlyReady || flow.of.oneAtATime) return more;
    while (more < most && this.#mayHoldMore(flow.held + more, this.free - more)) more += 1;
    return more;
  }

  get #isOnlyReady(): boolean {
    const [level, another] = Object.values(this.#ready).flatMap((levels) => [...levels.values()]);
    return level?.size === 1 && another === undefined;
  }

  /** The flow of a class that holds the fewest slots. */
  #lowest(one: PartyClass): KnownFlow | undefined {
    const levels = this.#ready[one];
    for (const held of [...levels.keys()].sort((a, b) => a - b))
      for (const flow of levels.get(held) ?? []) if (mayTake(flow)) return flow;
    return undefined;
  }

  /** Flows that hold nothing and come after those that are asked for. */
  *#others(asked: ReadonlyMap<KnownFlow, number>): Generator<KnownFlow> {
    let spare = this.#spare;
    for (const levels of Object.values(this.#ready))
      for (const flow of levels.get(0) ?? []) {
        if (spare <= 0) return;
        if (asked.has(flow)) continue;
        spare -= 1;
        yield flow;
      }
  }

  #mayHoldMore(held: number, free: number = this.free): boolean {
    if (free <= 0) return false;
    return held === 0 || this.slots < FEWEST_SHARED || held + 1 <= THRESHOLD * (free - 1);
  }

  #hold(flow: KnownFlow, more: number): void {
    if (more === 0) return;
    this.#leave(flow);
    flow.held += more;
    this.#held[flow.of.parties] += more;
    this.#enter(flow);
  }

  #setReady(flow: KnownFlow, isReady: boolean): void {
    if (flow.isReady === isReady && isReady) return;
    this.#leave(flow);
    flow.isReady = isReady;
    this.#enter(flow);
  }

  #enter(flow: KnownFlow): void {
    if (!flow.isReady) return;
    const levels = this.#ready[flow.of.parties];
    const level = levels.get(flow.held) ?? new Set();
    levels.set(flow.held, level.add(flow));
  }

  #leave(flow: KnownFlow): void {
    const levels = this.#ready[flow.of.parties];
    const level = levels.get(flow.held);
    level?.delete(flow);
    if (level?.size === 0) levels.delete(flow.held);
  }
}

function mayTake({ of, held }: KnownFlow): boolean {
  return !of.oneAtATime || held === 0;
}

function nameOf({ kind, party }: Flow): string {
  return `${kind}:${party}`;
}
