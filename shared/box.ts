/**
 * Holds a large value until it is taken, so that a longer-lived reference to the box does not keep the value in memory.
 * Take it in a function that is not async: an async one keeps what it has touched until it ends.
 */
export class Box<T> {
  #content: { value: T } | undefined;

  constructor(value: T) {
    this.#content = { value };
  }

  /** Moves the value, as `change` returns it, to a new box. */
  map<Changed>(change: (value: T) => Changed): Box<Changed> {
    return new Box(change(this.take()));
  }

  /** Throws if the box is already empty. */
  take(): T {
    if (this.#content === undefined) throw new Error('this was taken before');
    const { value } = this.#content;
    this.#content = undefined;
    return value;
  }
}
