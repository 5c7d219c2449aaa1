/** Holds a large value until somebody takes it, so that whoever holds the box later holds no value. */
export class Box<T> {
  #held: { value: T } | undefined;

  constructor(value: T) {
    this.#held = { value };
  }

  /** Empties the box. Throws when it is empty already. */
  take(): T {
    if (this.#held === undefined) throw new Error('this was taken before');
    const { value } = this.#held;
    this.#held = undefined;
    return value;
  }
}
