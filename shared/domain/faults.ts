import type { Fault } from '../schemas/errors.ts';
import { VALIDATION_ITEMS_MAX } from '../schemas/limits.ts';
import { ValidationError } from '../schemas/validator.ts';

type FieldPath = (string | number)[];

/** Collects the validation errors that a body's schema cannot find. Keeps the first one of each field. */
export class Faults {
  readonly #loc: FieldPath;
  readonly #faults: Fault[];

  constructor(loc: FieldPath = ['body'], faults: Fault[] = []) {
    this.#loc = loc;
    this.#faults = faults;
  }

  /** Returns a collector for a part of the body, which adds its faults to this one. */
  forPart(...path: FieldPath): Faults {
    return new Faults([...this.#loc, ...path], this.#faults);
  }

  add(
    path: string | FieldPath,
    msg: string,
    type: Fault['type'] = 'value_error',
    more: Pick<Fault, 'ctx' | 'input'> = {},
  ): void {
    const loc = [...this.#loc, ...[path].flat()];
    const place = loc.join('\n');
    if (
      this.#faults.length < VALIDATION_ITEMS_MAX &&
      !this.#faults.some((one) => one.loc.join('\n') === place)
    )
      this.#faults.push({ loc, msg, type, ...more });
  }

  /** Throws a `ValidationError` if any fault was found. */
  throwIfAny(): void {
    if (this.#faults.length > 0) throw new ValidationError(this.#faults);
  }
}

/** Throws a `ValidationError` if any value of a list is at fault: `expected` says what it should be instead. */
export function checkEach<Value>(
  field: string,
  values: readonly Value[],
  expected: (value: Value) => string | undefined,
): void {
  const faults = new Faults();
  for (const [index, value] of values.entries()) {
    const fault = expected(value);
    if (fault !== undefined) faults.add([field, index], `Input should be ${fault}`);
  }
  faults.throwIfAny();
}

/** Checks one row, or each row of a non-empty list. Throws a `ValidationError` with the faults of all of them. */
export function checkRows<Row, Values>(
  body: Row | Row[],
  check: (row: Row, faults: Faults) => Values,
): [Values, ...Values[]] {
  const faults = new Faults();
  const values = Array.isArray(body)
    ? body.map((row, index) => check(row, faults.forPart(index)))
    : [check(body, faults)];
  faults.throwIfAny();
  return values as [Values, ...Values[]];
}
