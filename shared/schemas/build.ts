import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** Schema of an object that rejects unknown properties. */
export const closedObject = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Schema of a string enum. */
export const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** Schema that also accepts null. It lists two types, since an `anyOf` would report three validation errors for one. */
export const nullable = <T extends TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] });

/** Schema of a property that is optional in requests. Validation fills in the default, so it is present afterwards. */
export const withDefault = <T extends TSchema>(schema: T, value: Static<T>): T =>
  Type.Optional({ ...schema, default: value } as never) as unknown as T;

/**
 * Schema of a person's text. Its length is limited in code points. NUL and lone surrogates are refused, because they
 * cannot be stored unchanged.
 */
export const text = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, wellFormed: true });

/** Schema of a string enum, or null. */
export const nullableOneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number] | null>({ type: ['string', 'null'], enum: [...values, null] });

/**
 * Schema of one row, or of a list of rows that is stored as a whole or not at all. Uses `if` rather than `anyOf`, so
 * that validation errors name the field in the row. Therefore the row's schema must not have defaults.
 */
export const oneOrMany = <T extends TSchema>(row: T, maxItems: number) =>
  Type.Unsafe<Static<T> | Static<T>[]>({
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: { type: 'array', items: row, minItems: 1, maxItems },
    else: row,
  });

/**
 * Reports whether a text can be stored and sent unchanged: PostgreSQL refuses NUL, and UTF-8 has no lone surrogates.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
