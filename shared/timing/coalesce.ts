import timers from 'node:timers/promises';

/**
 * Runs `work`, one run at a time. Calls during a run, and during the pause of `gapMs` after it, share the next run. If
 * `gapMs` is a function, it is called after each run.
 */
export class Coalescer<T> {
  readonly #work: () => Promise<T>;
  readonly #gapMs: () => number;
  /** The current run and the pause after it; undefined if there is neither. Never rejects. */
  #current: Promise<void> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>, gapMs: number | (() => number) = 0) {
    this.#work = work;
    this.#gapMs = typeof gapMs === 'number' ? () => gapMs : gapMs;
  }

  /** Settles like the first run that begins after this call. */
  run(): Promise<T> {
    if (this.#current === undefined) return this.#start();
    this.#next ??= this.#current.then(() => this.#start());
    return this.#next;
  }

  #start(): Promise<T> {
    const run = this.#work();
    this.#next = undefined;
    this.#current = this.#pauseAfter(run);
    return run;
  }

  async #pauseAfter(run: Promise<T>): Promise<void> {
    await Promise.allSettled([run]);
    const gapMs = this.#gapMs();
    if (gapMs > 0) await timers.setTimeout(gapMs, undefined, { ref: false });
    if (this.#next === undefined) this.#current = undefined;
  }
}

/**
 * Returns a pause that concurrent callers share. They continue at the same time, so their next queries can be batched.
 */
export function sharedPause(ms: number): () => Promise<void> {
  let pause: Promise<void> | undefined;
  return () => {
    pause ??= timers.setTimeout(ms).then(() => {
      pause = undefined;
    });
    return pause;
  };
}
