/** Postpones work. It runs once, at the earliest of the requested times. */
export class Later {
  readonly #work: () => void;
  #next: { at: number; timer: Disposable } | undefined;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Runs the work in `ms`, or earlier if that was already requested; below 1 ms, after this turn of the event loop. */
  within(ms: number): void {
    const at = performance.now() + ms;
    if (this.#next !== undefined && this.#next.at <= at) return;
    this.#next?.timer[Symbol.dispose]();
    const due = () => {
      this.#next = undefined;
      this.#work();
    };
    this.#next = { at, timer: ms < 1 ? setImmediate(due) : setTimeout(due, ms) };
  }
}
