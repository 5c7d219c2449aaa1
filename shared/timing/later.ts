/** Puts something off: it is done once, at the earliest of the times asked for. */
export class Later {
  readonly #work: () => void;
  #next: { at: number; timer: Disposable } | undefined;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Does it in that many milliseconds, or as soon as was asked for before; below 1, after this turn of the event loop. */
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
