import { LoadEstimate } from '../../shared/domain/load.ts';

const TICK_MS = 5;
const DEADLINE_MS = 10_000;
const SPENDABLE_MS = 7000;
const LOOK_EVERY_MS = 200;
const BEAT_EVERY_MS = 500;

interface Call {
  party: string;
  at: number;
  turn: number;
  ingress: LoadEstimate;
  startedAt: number;
  endsAt: number;
}

/** The outcomes of the calls sent in a span of time. */
export interface Tally {
  refused: number;
  answered: number;
  late: number;
}

/**
 * Workers, a fair queue, a leader that publishes its snapshot and ingresses that read it, in steps of simulated time:
 * beats move `claimed` each half second, snapshots are up to 0.2 s old when they are read, as in the real system.
 */
export class QueueModel {
  now = 0;
  workers = 2;
  slotsPerWorker = 8;
  /** How long work that starts now takes. */
  serviceMs: () => number = () => 100;
  /** Calls a second, by party. */
  arrivals: Record<string, number> = {};
  /** Whether workers learn that there is work. */
  hasTickets = true;
  hasLeader = true;
  readonly fates: { party: string; at: number; fate: keyof Tally }[] = [];

  #ingresses = [new LoadEstimate(), new LoadEstimate()];
  #queue: Call[] = [];
  #running: Call[] = [];
  #reached = 0;
  #turns = new Map<string, number>();
  #due = new Map<string, number>();
  #claimed = 0;
  #beaten = 0;
  #published = this.#snapshot();
  #calls = 0;

  /** Lets this much time pass. */
  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += TICK_MS) this.#tick();
  }

  /** The outcomes of the calls sent in [from, until), of one party or of all. */
  tally(from: number, until: number, party?: string): Tally {
    const tally = { refused: 0, answered: 0, late: 0 };
    for (const call of this.fates)
      if (call.at >= from && call.at < until && (party === undefined || call.party === party))
        tally[call.fate] += 1;
    return tally;
  }

  /** When the first call at or after `from` was refused, or undefined. */
  refusedFrom(from: number): number | undefined {
    return this.#refusals(from)[0];
  }

  /** When the last call at or after `from` was refused, or undefined. */
  refusedUntil(from: number): number | undefined {
    return this.#refusals(from).at(-1);
  }

  /** An ingress that starts now, and has read one snapshot. */
  freshIngress(): LoadEstimate {
    const fresh = new LoadEstimate();
    this.#look(fresh);
    return fresh;
  }

  /** The provider hangs, for running and for new calls. */
  hang(): void {
    this.serviceMs = () => Number.POSITIVE_INFINITY;
    for (const call of this.#running) call.endsAt = Number.POSITIVE_INFINITY;
  }

  /** Every worker dies, with all that it runs. */
  kill(): void {
    this.workers = 0;
    for (const call of this.#running) this.#end(call, 'late');
    this.#running = [];
    this.#claimed = 0;
    this.#beaten = 0;
  }

  #tick(): void {
    this.#arrive();
    this.#finish();
    this.#claim();
    if (this.now % BEAT_EVERY_MS === 0) this.#beaten = this.#claimed;
    if (this.hasLeader && this.now % LOOK_EVERY_MS === 0) this.#published = this.#snapshot();
    if ((this.now + 100) % LOOK_EVERY_MS === 0) for (const ingress of this.#ingresses) this.#look(ingress);
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
    if (ingress.answerMs(party, this.now) > SPENDABLE_MS) {
      this.fates.push({ party, at: this.now, fate: 'refused' });
      return;
    }
    ingress.joined(party);
    const turn = Math.max(this.#reached, this.#turns.get(party) ?? 0) + 1;
    this.#turns.set(party, turn);
    const call = { party, at: this.now, turn, ingress, startedAt: 0, endsAt: 0 };
    const place = this.#queue.findLastIndex((other) => other.turn <= turn);
    this.#queue.splice(place + 1, 0, call);
  }

  #finish(): void {
    const isLate = (call: Call) => this.now - call.at >= DEADLINE_MS;
    for (const call of this.#queue.filter(isLate)) this.#end(call, 'late');
    this.#queue = this.#queue.filter((call) => !isLate(call));
    const ended = this.#running.filter((call) => call.endsAt <= this.now || isLate(call));
    for (const call of ended) this.#end(call, isLate(call) ? 'late' : 'answered');
    this.#running = this.#running.filter((call) => !ended.includes(call));
  }

  #claim(): void {
    while (
      this.hasTickets &&
      this.#queue.length > 0 &&
      this.#running.length < this.workers * this.slotsPerWorker
    ) {
      const call = this.#queue.shift() as Call;
      this.#reached = Math.max(this.#reached, call.turn);
      this.#claimed += 1;
      this.#running.push({ ...call, startedAt: this.now, endsAt: this.now + this.serviceMs() });
    }
  }

  #end({ party, at, ingress, startedAt }: Call, fate: 'answered' | 'late'): void {
    this.fates.push({ party, at, fate });
    if (fate === 'answered') ingress.served(this.now - startedAt);
  }

  #look(ingress: LoadEstimate): void {
    const { at, ...published } = this.#published;
    ingress.observe({ ...published, at: this.now, ageMs: this.now - at });
  }

  #snapshot() {
    const queuedByParty = new Map<string, number>();
    for (const { party } of this.#queue) queuedByParty.set(party, (queuedByParty.get(party) ?? 0) + 1);
    const oldest = Math.min(this.now, ...this.#queue.map(({ at }) => at));
    const lastClaim = Math.max(...this.#running.map(({ startedAt }) => startedAt));
    return {
      at: this.now,
      queuedByParty,
      oldestMs: this.now - oldest,
      claimed: this.#beaten,
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
