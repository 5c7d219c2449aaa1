/** Delays a call. Several requests result in one call, at the earliest of the requested times. */
export class DelayedCall {
  readonly #work: () => void;
  #next: { at: number; timer: Disposable } | undefined;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Makes the call after this turn of the event loop if `ms` is below 1. */
  within(ms: number): void {
    const at = performance.now() + ms;
    if (this.#next !== undefined && this.#next.at <= at) return;
    this.#next?.timer[Symbol.dispose]();
    const run = () => {
      this.#next = undefined;
      this.#work();
    };
    this.#next = { at, timer: ms < 1 ? setImmediate(run) : setTimeout(run, ms) };
  }
}
