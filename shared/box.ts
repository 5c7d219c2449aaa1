/**
 * Holds a large value until it is taken, so that the box, which may be kept longer, does not keep the value in memory.
 */
export class Box<T> {
  #content: { value: T } | undefined;

  constructor(value: T) {
    this.#content = { value };
  }

  /** Returns the value and empties the box. Throws if the box is already empty. */
  take(): T {
    if (this.#content === undefined) throw new Error('this was taken before');
    const { value } = this.#content;
    this.#content = undefined;
    return value;
  }
}
