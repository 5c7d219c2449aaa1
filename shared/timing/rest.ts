import { type EveryOptions, every, type Repetition } from './every.ts';

/** Time without anything to do, here or in another process, after which a process may rest. */
const QUIET_MS = 60_000;
/** Interval at which a process that has something to do says so: others may have begun to be quiet. */
const ANNOUNCE_EVERY_MS = 20_000;

/**
 * Says whether a process rests: a minute passed without work, and the database holds none. It then repeats more
 * rarely what it does in case that something was lost. All processes rest and wake together, because each says when it
 * has something to do. One that misses the message finds the work with its next heartbeat.
 */
export class Rest {
  readonly #quietMs: number;
  readonly #repetitions = new Set<Repetition>();
  #heardAt = performance.now();
  #announcedAt = Number.NEGATIVE_INFINITY;
  #isResting = false;
  #wokeAt = Number.NEGATIVE_INFINITY;
  #announce = () => {};

  constructor(quietMs = QUIET_MS) {
    this.#quietMs = quietMs;
  }

  get isResting(): boolean {
    return this.#isResting;
  }

  /** True if the process may rest, as far as it knows. */
  get isQuiet(): boolean {
    return performance.now() > this.#heardAt + this.#quietMs;
  }

  /** Milliseconds since the latest rest ended: Infinity if there was none, 0 at rest. */
  get awakeMs(): number {
    return this.#isResting ? 0 : performance.now() - this.#wokeAt;
  }

  begin(): void {
    this.#isResting = true;
  }

  /** Sets how this process tells the others that it has something to do. */
  announceBy(announce: () => void): void {
    this.#announce = announce;
  }

  /** Notes that this process has something to do. */
  note(): void {
    this.hear();
    if (performance.now() < this.#announcedAt + ANNOUNCE_EVERY_MS) return;
    this.#announcedAt = performance.now();
    this.#announce();
  }

  /** Notes that some process has something to do, or that this one could not hear of it. Ends the rest. */
  hear(): void {
    this.#heardAt = performance.now();
    if (!this.#isResting) return;
    this.#isResting = false;
    this.#wokeAt = performance.now();
    for (const repetition of this.#repetitions) repetition.soon();
  }

  /** Like `every`, but at rest every `restMs`, and at once when the rest ends. */
  every(ms: number, restMs: number, work: () => unknown, options?: EveryOptions): Repetition {
    const repetition = every(() => (this.#isResting ? restMs : ms), work, options);
    this.#repetitions.add(repetition);
    return {
      soon: () => repetition.soon(),
      stop: () => {
        this.#repetitions.delete(repetition);
        return repetition.stop();
      },
    };
  }
}
