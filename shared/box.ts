/**
 * Holds a large value until it is taken, so that the box, which may be kept longer, does not keep the value in memory.
 */
export class Box<T> {
  #held: { value: T } | undefined;

  constructor(value: T) {
    this.#held = { value };
  }

  /** Returns the value and empties the box. Throws if the box is already empty. */
  take(): T {
    if (this.#held === undefined) throw new Error('this was taken before');
    const { value } = this.#held;
    this.#held = undefined;
    return value;
  }
}
