/** Delays a function call. Several requests lead to one call, at the earliest requested time. */
export class DelayedCall {
  readonly #work: () => void;
  #next: { at: number; timer: Disposable } | undefined;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** If `ms` is below 1, makes the call right after this turn of the event loop. */
  callWithin(ms: number): void {
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
