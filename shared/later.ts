/** Puts something off: it is done once, at the earliest of the times asked for. */
export class Later {
  readonly #what: () => void;
  #next: { timer: NodeJS.Timeout; at: number } | undefined;

  constructor(what: () => void) {
    this.#what = what;
  }

  /** Does it in that many milliseconds, or as soon as was asked for before. */
  within(ms: number): void {
    const at = performance.now() + ms;
    if (this.#next !== undefined && this.#next.at <= at) return;
    clearTimeout(this.#next?.timer);
    const timer = setTimeout(() => {
      this.#next = undefined;
      this.#what();
    }, ms);
    this.#next = { timer, at };
  }
}
