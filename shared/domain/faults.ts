import { type Fault, inputAt } from '../schemas/errors.ts';
import { VALIDATION_ITEMS_MAX } from '../schemas/limits.ts';
import { ValidationError } from '../schemas/validator.ts';

type FieldPath = (string | number)[];

/** Collects the validation errors that a body's schema cannot find. Keeps the first one of each field. */
export class Faults {
  readonly #sent: unknown;
  readonly #loc: FieldPath;
  readonly #faults: Fault[];

  /** `sent` is the body, or those of its fields that are checked. */
  constructor(sent: unknown, loc: FieldPath = ['body'], faults: Fault[] = []) {
    this.#sent = sent;
    this.#loc = loc;
    this.#faults = faults;
  }

  /** Returns a collector for a part of the body, which adds its faults to this one. */
  forPart(...path: FieldPath): Faults {
    return new Faults(valueAt(this.#sent, path), [...this.#loc, ...path], this.#faults);
  }

  add(
    path: string | FieldPath,
    msg: string,
    type: Fault['type'] = 'value_error',
    more: Pick<Fault, 'ctx'> = {},
  ): void {
    const parts = [path].flat();
    const loc = [...this.#loc, ...parts];
    const place = loc.join('\n');
    if (
      this.#faults.length < VALIDATION_ITEMS_MAX &&
      !this.#faults.some((one) => one.loc.join('\n') === place)
    )
      this.#faults.push({ loc, msg, type, ...more, ...inputAt(loc, valueAt(this.#sent, parts)) });
  }

  /** Throws a `ValidationError` if any fault was found. */
  throwIfAny(): void {
    if (this.#faults.length > 0) throw new ValidationError(this.#faults);
  }
}

function valueAt(sent: unknown, path: FieldPath): unknown {
  return path.reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], sent);
}

/** Throws a `ValidationError` if any value of a list is at fault: `expected` says what it should be instead. */
export function checkEach<Value>(
  field: string,
  values: readonly Value[],
  expected: (value: Value) => string | undefined,
): void {
  const faults = new Faults({ [field]: values });
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
  const faults = new Faults(body);
  const values = Array.isArray(body)
    ? body.map((row, index) => check(row, faults.forPart(index)))
    : [check(body, faults)];
  faults.throwIfAny();
  return values as [Values, ...Values[]];
}
