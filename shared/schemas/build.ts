import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';

/** Rejects unknown properties. */
export const closedObject = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Every property is optional; unknown ones are rejected still. */
export const partialOf = <T extends TObject>(schema: T) =>
  Type.Partial(schema, { additionalProperties: false });

export const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** Uses a list of types. With an `anyOf`, one invalid value would give three validation errors. */
export const nullable = <T extends TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] });

/** The property is optional in requests. Validation fills in the default, so it is present afterwards. */
export const withDefault = <T extends TSchema>(schema: T, value: Static<T>): T =>
  Type.Optional({ ...schema, default: value } as never) as unknown as T;

/** The length counts code points. NUL and lone surrogates are refused, because they cannot be stored. */
export const text = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, wellFormed: true });

export const nullableOneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number] | null>({ type: ['string', 'null'], enum: [...values, null] });

/** Uses `if` rather than `anyOf`, so that validation errors name the field in the row. */
export const oneOrMany = <T extends TSchema>(row: T, maxItems: number) =>
  Type.Unsafe<Static<T> | Static<T>[]>({
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: { type: 'array', items: row, minItems: 1, maxItems },
    else: row,
  });

/** PostgreSQL refuses NUL, and UTF-8 has no lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
