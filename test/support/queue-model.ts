import { type KindLoad, LoadEstimate, STANDING_QUEUE_WAIT_MS } from '../../shared/domain/load.ts';

const TICK_MS = 5;
const DEADLINE_MS = 10_000;
const SPENDABLE_MS = 7000;
const LOOK_INTERVAL_MS = 200;
const HEARTBEAT_INTERVAL_MS = 500;

interface Call {
  party: string;
  at: number;
  ingress: LoadEstimate;
  startedAt: number;
  endsAt: number;
}

export interface Tally {
  refused: number;
  answered: number;
  late: number;
}

/**
 * Simulates workers that serve parties in turn, and ingresses that read the load, in small steps of time. As in the
 * product, only heartbeats move `claimed` (here every half second), a read is some time old (here up to 0.2 s), and an
 * admission counts its party's waiting work.
 */
export class QueueModel {
  now = 0;
  workers = 2;
  slotsPerWorker = 8;
  serviceMs: () => number = () => 100;
  /** Calls per second, by party. */
  arrivals: Record<string, number> = {};
  /** True while workers learn that there is work. */
  isHeard = true;
  /** True while the ingresses can read the database. */
  isReadable = true;
  readonly fates: { party: string; at: number; fate: keyof Tally }[] = [];

  #ingresses = [new LoadEstimate(), new LoadEstimate()];
  /** Queued calls of the parties that have some; the party whose turn is next comes first. */
  #queues = new Map<string, Call[]>();
  #running: Call[] = [];
  #due = new Map<string, number>();
  #claimed = 0;
  #heartbeatClaims = 0;
  #calls = 0;

  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += TICK_MS) this.#tick();
  }

  /** Counts the outcomes of calls sent in [from, until), of one party or of all. */
  tally(from: number, until: number, party?: string): Tally {
    const tally = { refused: 0, answered: 0, late: 0 };
    for (const call of this.fates)
      if (call.at >= from && call.at < until && (party === undefined || call.party === party))
        tally[call.fate] += 1;
    return tally;
  }

  /** Returns the time of the first refused call sent at or after `from`; undefined if there is none. */
  refusedFrom(from: number): number | undefined {
    return this.#refusals(from)[0];
  }

  /** Returns the time of the last refused call sent at or after `from`; undefined if there is none. */
  refusedUntil(from: number): number | undefined {
    return this.#refusals(from).at(-1);
  }

  queuedOf(party: string): number {
    return this.#queues.get(party)?.length ?? 0;
  }

  /** Returns the estimate of an ingress that starts now, and has read the load once. */
  freshIngress(): LoadEstimate {
    const fresh = new LoadEstimate();
    fresh.observe(this.#load());
    return fresh;
  }

  hang(): void {
    this.serviceMs = () => Number.POSITIVE_INFINITY;
    for (const call of this.#running) call.endsAt = Number.POSITIVE_INFINITY;
  }

  kill(): void {
    this.workers = 0;
    for (const call of this.#running) this.#end(call, 'late');
    this.#running = [];
    this.#claimed = 0;
    this.#heartbeatClaims = 0;
  }

  #tick(): void {
    this.#arrive();
    this.#finish();
    this.#claim();
    if (this.now % HEARTBEAT_INTERVAL_MS === 0) this.#heartbeatClaims = this.#claimed;
    if (this.isReadable && (this.now + 100) % LOOK_INTERVAL_MS === 0)
      for (const ingress of this.#ingresses) ingress.observe(this.#load());
  }

  #arrive(): void {
    for (const [party, rate] of Object.entries(this.arrivals)) {
      let due = (this.#due.get(party) ?? 0) + (rate * TICK_MS) / 1000;
      for (; due >= 1; due -= 1) this.#call(party);
      this.#due.set(party, due);
    }
  }

  #call(party: string): void {
    this.#calls += 1;
    const ingress = this.#ingresses[this.#calls % this.#ingresses.length] as LoadEstimate;
    const queued = this.queuedOf(party);
    if (queued >= ingress.maxQueued(SPENDABLE_MS, this.now)) {
      this.fates.push({ party, at: this.now, fate: 'refused' });
      return;
    }
    const call = { party, at: this.now, ingress, startedAt: 0, endsAt: 0 };
    if (queued > 0) this.#queues.get(party)?.push(call);
    else this.#queues.set(party, [call]);
  }

  #finish(): void {
    const isLate = (call: Call) => this.now - call.at >= DEADLINE_MS;
    for (const [party, calls] of [...this.#queues]) {
      const inTime = calls.findIndex((call) => !isLate(call));
      for (const call of calls.splice(0, inTime === -1 ? calls.length : inTime)) this.#end(call, 'late');
      if (calls.length === 0) this.#queues.delete(party);
    }
    const ended = this.#running.filter((call) => call.endsAt <= this.now || isLate(call));
    for (const call of ended) this.#end(call, isLate(call) ? 'late' : 'answered');
    this.#running = this.#running.filter((call) => !ended.includes(call));
  }

  #claim(): void {
    while (this.isHeard && this.#running.length < this.workers * this.slotsPerWorker) {
      const [next] = this.#queues;
      if (next === undefined) return;
      const [party, [call, ...rest]] = next;
      this.#queues.delete(party);
      if (rest.length > 0) this.#queues.set(party, rest);
      this.#claimed += 1;
      this.#running.push({ ...(call as Call), startedAt: this.now, endsAt: this.now + this.serviceMs() });
    }
  }

  #end({ party, at, ingress, startedAt }: Call, fate: 'answered' | 'late'): void {
    this.fates.push({ party, at, fate });
    if (fate === 'answered') ingress.noteServed(this.now - startedAt);
  }

  #load(): KindLoad {
    const queues = [...this.#queues.values()];
    const waitedMs = (calls: readonly Call[]) => this.now - (calls[0]?.at ?? this.now);
    const lastClaim = Math.max(...this.#running.map(({ startedAt }) => startedAt));
    return {
      at: this.now,
      standing: queues.filter((calls) => waitedMs(calls) >= STANDING_QUEUE_WAIT_MS).length,
      queues: queues.filter((calls) => waitedMs(calls) < STANDING_QUEUE_WAIT_MS).map(({ length }) => length),
      others: 0,
      queued: queues.reduce((sum, { length }) => sum + length, 0),
      oldestMs: Math.max(0, ...queues.map(waitedMs)),
      claimed: this.#heartbeatClaims,
      lastClaimMs: this.#running.length === 0 ? null : this.now - lastClaim,
      running: this.#running.length,
      workers: this.workers,
      slots: this.workers * this.slotsPerWorker,
    };
  }

  #refusals(from: number): number[] {
    return this.fates.filter(({ at, fate }) => fate === 'refused' && at >= from).map(({ at }) => at);
  }
}
