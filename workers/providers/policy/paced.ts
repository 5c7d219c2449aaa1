import { setTimeout as sleep } from 'node:timers/promises';

/** Runs work when asked, never twice at once, and with a gap after each run. What is asked meanwhile is one more run. */
export class Paced {
  readonly #gapMs: number;
  readonly #work: () => Promise<void>;
  readonly #stopped = new AbortController();
  #runs: Promise<void> | undefined;
  #asked = false;

  /** `work` must not reject. */
  constructor(gapMs: number, work: () => Promise<void>) {
    this.#gapMs = gapMs;
    this.#work = work;
  }

  ask(): void {
    this.#asked = true;
    this.#runs ??= this.#run().finally(() => {
      this.#runs = undefined;
    });
  }

  /** Runs once more if it was asked to; then no more. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#runs;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (this.#asked) {
      this.#asked = false;
      await this.#work();
      await sleep(this.#gapMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
