import type { Claim, Flow, FlowRequest } from '../../shared/db/stores/work/claim.ts';
import { type Kind, type Kinds, kindNamed, type PartyClass } from '../../shared/work/kind.ts';

export interface ClaimRequest extends FlowRequest {
  /** Number of slots set aside. The claim may take more rows if other requests leave their slots unused. */
  readonly reserved: number;
  /** Value of `FairOrder.#seq` at the ask. */
  readonly seq: number;
}

interface KnownFlow extends Flow {
  readonly declaration: Kind;
  readonly owner: KnownParty;
  /** Number of slots that run work of this kind and party in this process, or are set aside for it. */
  held: number;
  /** True if work of this kind and party is known to be queued. */
  isReady: boolean;
  /** Value of `FairOrder.#seq` after the latest `noteQueued` call for the flow. */
  seq: number;
  /** A claim skips work queued before this time, in Unix milliseconds; null for no limit. */
  sinceMs: number | null;
}

interface KnownParty {
  /** Number of slots that the party's flows hold. */
  held: number;
  /** Flows of the party, in the order of their turns. */
  readonly flows: KnownFlow[];
}

/**
 * A party may hold at most this many slots per free slot: a dynamic threshold (Choudhury and Hahne 1998). Alone, it
 * gets all slots except a sixteenth, rounded up.
 */
const HELD_PER_FREE_MAX = 15;
/** In a pool with fewer slots than this, one party may hold all of them. */
const SHARED_SLOTS_MIN = 4;
/** Maximum number of spare flows in a claim. Spare flows get only slots that other flows leave unused. */
const SPARE_FLOWS_MAX = 256;
/** A transaction that commits late makes its row visible at most this much after rows that were queued later. */
const LATE_COMMIT_MS = 1000;

/**
 * Decides which flow gets the next free slot of a pool. A flow is the queued work of one kind for one party, an app or
 * an account. Apps are one group, accounts another. The group that holds fewer slots goes first; within it, the party
 * that holds the fewest slots; among equals, the one that has waited longest; of its flows, the one that holds the
 * fewest. A flow may be empty, because other workers may have claimed its work.
 */
export class FairOrder {
  readonly slots: number;
  readonly #kinds: Kinds;
  readonly #parties = new Map<string, KnownParty>();
  /** Flows with queued work, by number of slots that their party holds. In each set, the next flow comes first. */
  readonly #ready = { apps: new Map<number, Set<KnownFlow>>(), accounts: new Map<number, Set<KnownFlow>>() };
  readonly #heldSlots = { apps: 0, accounts: 0 };
  /** Number of announcements and refreshes so far. */
  #seq = 0;
  /** Value of `#seq` after the latest `refresh` call. */
  #refreshSeq = 0;
  /** Number of spare flows in the next claim. It grows while claims find less work than expected. */
  #spareCount = 0;

  constructor(slots: number, kinds: Kinds) {
    this.slots = slots;
    this.#kinds = kinds;
  }

  get kinds(): string[] {
    return Object.keys(this.#kinds);
  }

  get free(): number {
    return this.slots - this.#heldSlots.apps - this.#heldSlots.accounts;
  }

  get isReady(): boolean {
    return this.#ready.apps.size + this.#ready.accounts.size > 0;
  }

  /** Ignores work of other pools. */
  noteQueued({ kind, party }: Flow): void {
    if (!Object.hasOwn(this.#kinds, kind)) return;
    const flow = this.#flowOf({ kind, party });
    this.#seq += 1;
    flow.seq = this.#seq;
    this.#setReady(flow, true);
  }

  /** Returns true if work of the flow is known to be queued and has no slot. */
  isWaiting(flow: Flow): boolean {
    return Object.hasOwn(this.#kinds, flow.kind) && this.#flowOf(flow).isReady;
  }

  /** Makes the next claims search the whole queue of each flow, to find released work. Forgets idle parties. */
  refresh(): void {
    this.#seq += 1;
    this.#refreshSeq = this.#seq;
    for (const [name, { held, flows }] of this.#parties) {
      for (const flow of flows) flow.sinceMs = null;
      if (held === 0 && !flows.some(({ isReady }) => isReady)) this.#parties.delete(name);
    }
  }

  /** Chooses the flows for the next claim, and sets at most `max` slots aside for them. */
  ask(max: number = this.free): ClaimRequest[] {
    const counts = new Map<KnownFlow, number>();
    // A lone flow takes its slots at once: one by one, 240 of them take a fifth of a millisecond.
    const levels = [...this.#ready.apps.values(), ...this.#ready.accounts.values()];
    const isAlone = levels.length === 1 && levels[0]?.size === 1;
    for (let left = max; left > 0; ) {
      const flow = this.#nextFlow();
      if (flow === undefined) break;
      const more = isAlone && !flow.declaration.oneAtATime ? Math.min(left, this.#roomOf(flow, false)) : 1;
      this.#hold(flow, more);
      counts.set(flow, (counts.get(flow) ?? 0) + more);
      left -= more;
    }
    if (counts.size === 0) return [];
    const asks = [...counts].map(([flow, count]) => this.#askFor(flow, count, count));
    for (const flow of this.#idleFlows().take(this.#spareCount)) asks.push(this.#askFor(flow, 1, 0));
    return asks;
  }

  /**
   * Updates the flows after a claim. `claimed` is the claimed work; `left` are the flows with more work. If nothing was
   * claimed, returns the flows whose rows were locked by other transactions.
   */
  noteAnswer(
    asks: readonly ClaimRequest[],
    claimed: readonly Pick<Claim, keyof Flow | 'queuedAtMs'>[],
    left: readonly Flow[],
  ): Flow[] {
    const pieces = Map.groupBy(claimed, flowKey);
    const leftNames = new Set(left.map(flowKey));
    const blockedFlows: Flow[] = [];
    for (const ask of asks) {
      const name = flowKey(ask);
      const flow = this.#flowOf(ask);
      const claimedPieces = pieces.get(name) ?? [];
      // A claim from before a refresh may have skipped released work, so the next one still searches the whole queue.
      if (ask.seq >= this.#refreshSeq)
        for (const { queuedAtMs } of claimedPieces)
          flow.sinceMs = Math.max(flow.sinceMs ?? 0, queuedAtMs - LATE_COMMIT_MS);
      // While a row of a one-at-a-time flow runs, `left` omits the flow, though its next row may be queued.
      const mayHaveNext = flow.declaration.oneAtATime && claimedPieces.length > 0;
      if (!leftNames.has(name)) this.#setReady(flow, mayHaveNext || flow.seq > ask.seq);
      else if (claimed.length === 0 && ask.reserved > 0) {
        this.#setReady(flow, false);
        blockedFlows.push({ kind: flow.kind, party: flow.party });
      }
      this.#hold(flow, claimedPieces.length - ask.reserved);
    }
    const hasSlotsLeft = claimed.length < asks.reduce((sum, { reserved }) => sum + reserved, 0);
    const spareCount = hasSlotsLeft ? 2 * this.#spareCount + 8 : this.#spareCount >> 1;
    this.#spareCount = Math.min(spareCount, SPARE_FLOWS_MAX);
    return blockedFlows;
  }

  release(flow: Flow): void {
    this.#hold(this.#flowOf(flow), -1);
  }

  /** Returns the flow, which is new if `refresh` has forgotten its party meanwhile. */
  #flowOf({ kind, party }: Flow): KnownFlow {
    const declaration = kindNamed(this.#kinds, kind);
    const name = `${declaration.parties}:${party}`;
    const owner = this.#parties.get(name) ?? { held: 0, flows: [] };
    const known = owner.flows.find((one) => one.kind === kind);
    if (known !== undefined) return known;
    const flow = { kind, party, declaration, owner, held: 0, isReady: false, seq: 0, sinceMs: null };
    owner.flows.push(flow);
    this.#parties.set(name, owner);
    return flow;
  }

  #askFor({ kind, party, sinceMs }: KnownFlow, count: number, reserved: number): ClaimRequest {
    return { kind, party, count, reserved, sinceMs, seq: this.#seq };
  }

  #nextFlow(): KnownFlow | undefined {
    const { apps, accounts } = this.#heldSlots;
    const classes: PartyClass[] = apps <= accounts ? ['apps', 'accounts'] : ['accounts', 'apps'];
    const firsts = classes.flatMap((partyClass) => this.#firstFlow(partyClass) ?? []);
    return firsts.find((flow) => this.#roomOf(flow, firsts.length > 1) > 0);
  }

  #firstFlow(partyClass: PartyClass): KnownFlow | undefined {
    const levels = this.#ready[partyClass];
    for (const held of [...levels.keys()].sort((a, b) => a - b))
      for (const flow of levels.get(held) ?? [])
        if (!flow.declaration.oneAtATime || flow.held === 0) return flow;
    return undefined;
  }

  *#idleFlows(): Generator<KnownFlow> {
    for (const levels of Object.values(this.#ready)) yield* levels.get(0) ?? [];
  }

  /**
   * Returns how many slots the party of a flow may take now. While both classes wait, a party that holds slots already
   * may only take more of its class's half.
   */
  #roomOf({ owner, declaration }: KnownFlow, isShared: boolean): number {
    const round = declaration.parties === 'apps' ? Math.ceil : Math.floor;
    const slots = isShared ? round(this.slots / 2) : this.slots;
    const held = isShared ? this.#heldSlots[declaration.parties] : this.slots - this.free;
    const free = Math.min(this.free, slots - held);
    // Each slot that the party takes is one free slot less.
    const most = (HELD_PER_FREE_MAX * free - owner.held) / (HELD_PER_FREE_MAX + 1);
    const room = slots < SHARED_SLOTS_MIN ? free : Math.floor(most);
    return owner.held > 0 ? room : Math.max(room, Math.min(this.free, 1));
  }

  #hold(flow: KnownFlow, more: number): void {
    if (more === 0) return;
    const { owner } = flow;
    for (const one of owner.flows) this.#leave(one);
    flow.held += more;
    owner.held += more;
    this.#heldSlots[flow.declaration.parties] += more;
    owner.flows.sort((a, b) => a.held - b.held);
    for (const one of owner.flows) this.#enter(one);
  }

  #setReady(flow: KnownFlow, isReady: boolean): void {
    if (flow.isReady === isReady && isReady) return;
    this.#leave(flow);
    flow.isReady = isReady;
    this.#enter(flow);
  }

  #enter(flow: KnownFlow): void {
    if (!flow.isReady) return;
    const levels = this.#ready[flow.declaration.parties];
    const level = levels.get(flow.owner.held) ?? new Set();
    levels.set(flow.owner.held, level.add(flow));
  }

  #leave(flow: KnownFlow): void {
    const levels = this.#ready[flow.declaration.parties];
    const level = levels.get(flow.owner.held);
    level?.delete(flow);
    if (level?.size === 0) levels.delete(flow.owner.held);
  }
}

function flowKey({ kind, party }: Flow): string {
  return `${kind}:${party}`;
}
