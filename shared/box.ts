/**
 * Holds a large value until it is taken, so that a longer-lived reference to the box does not keep the value in memory.
 */
export class Box<T> {
  #content: { value: T } | undefined;

  constructor(value: T) {
    this.#content = { value };
  }

  /** Throws if the box is already empty. */
  take(): T {
    if (this.#content === undefined) throw new Error('this was taken before');
    const { value } = this.#content;
    this.#content = undefined;
    return value;
  }
}
