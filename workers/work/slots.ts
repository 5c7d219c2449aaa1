import type { Claim, Room } from '../../shared/db/stores/work/claim.ts';
import { roomOf } from '../../shared/domain/share.ts';

type Attempt = Pick<Claim, 'id' | 'attempt'>;

/** A slot that an attempt occupies. */
export interface Slot {
  readonly attempt: string;
  readonly party: string;
}

/** The slots of one pool in this process: which attempt occupies each, and how many each party holds. */
export class Slots {
  readonly count: number;
  readonly #occupied = new Set<Slot>();
  readonly #byAttempt = new Map<string, Slot>();
  readonly #held = new Map<string, number>();

  constructor(count: number) {
    this.count = count;
  }

  get free(): number {
    return this.count - this.#occupied.size;
  }

  occupy(claim: Claim): Slot {
    const slot = { attempt: nameOf(claim), party: claim.party };
    this.#occupied.add(slot);
    this.#byAttempt.set(slot.attempt, slot);
    this.#add(slot.party, 1);
    return slot;
  }

  /** False if it is free already. */
  vacate(slot: Slot): boolean {
    if (!this.#occupied.delete(slot)) return false;
    if (this.#byAttempt.get(slot.attempt) === slot) this.#byAttempt.delete(slot.attempt);
    this.#add(slot.party, -1);
    return true;
  }

  /** Those that these attempts occupy. */
  of(attempts: readonly Attempt[]): Slot[] {
    return attempts.flatMap((attempt) => this.#byAttempt.get(nameOf(attempt)) ?? []);
  }

  /** Whether the party may have one of the free slots. */
  hasRoom(party: string): boolean {
    return roomOf(this.#held.get(party) ?? 0, this.free, this.count) > 0;
  }

  /** The free slots, and how many of them each party may have. */
  room(): Room {
    return this.#room(this.#held, this.free, this.free);
  }

  /** The same as soon as these slots are free as well, for as many as these are. */
  roomAfter(vacated: readonly Slot[]): Room {
    const held = new Map(this.#held);
    for (const { party } of vacated) held.set(party, (held.get(party) ?? 0) - 1);
    return this.#room(held, this.free + vacated.length, vacated.length);
  }

  #room(held: ReadonlyMap<string, number>, free: number, slots: number): Room {
    const ofServed = [...held].map(([party, holds]) => [party, roomOf(holds, free, this.count)] as const);
    return { slots, ofServed: new Map(ofServed), ofOthers: roomOf(0, free, this.count) };
  }

  #add(party: string, slots: number): void {
    const held = (this.#held.get(party) ?? 0) + slots;
    if (held === 0) this.#held.delete(party);
    else this.#held.set(party, held);
  }
}

function nameOf({ id, attempt }: Attempt): string {
  return `${id}/${attempt}`;
}
