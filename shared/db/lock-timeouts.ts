/** How many names are remembered. */
const NAMES_MAX = 1000;

/** Remembers whose latest statement ended in a lock time-out. */
export class LockTimeouts {
  /** The time-outs in a row of items tried alone, oldest first; 0 when only a shared statement timed out. */
  readonly #inARow = new Map<string, number>();

  has(name: string): boolean {
    return this.#inARow.has(name);
  }

  inARow(name: string): number {
    return this.#inARow.get(name) ?? 0;
  }

  note(names: readonly string[], { alone }: { alone: boolean }): void {
    for (const name of names) {
      const before = this.inARow(name);
      this.#inARow.delete(name);
      this.#inARow.set(name, before + (alone ? 1 : 0));
    }
    for (const oldest of this.#inARow.keys()) {
      if (this.#inARow.size <= NAMES_MAX) return;
      this.#inARow.delete(oldest);
    }
  }

  /** Counts from the start again. */
  restart(name: string): void {
    this.#inARow.set(name, 0);
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#inARow.delete(name);
  }
}
