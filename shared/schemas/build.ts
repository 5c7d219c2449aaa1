import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** An object that rejects unknown properties. */
export const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** One of a closed list of strings. */
export const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** The schema or null, as a type list: an `anyOf` would report three faults for one. */
export const nullable = <T extends TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] });

/** Optional on the wire, present after validation, which fills in the default. */
export const defaulted = <T extends TSchema>(schema: T, value: Static<T>): T =>
  Type.Optional({ ...schema, default: value } as never) as unknown as T;

/** A person's text: bounded in code points, without NUL and lone surrogates, which cannot be stored unchanged. */
export const text = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, wellFormed: true });

/** The same for a closed list. */
export const nullableOneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number] | null>({ type: ['string', 'null'], enum: [...values, null] });

/**
 * One row, or a list of them that is stored whole or not at all. `if` and not `anyOf`: faults name the field in the row. So
 * the row's schema can have no defaults.
 */
export const oneOrMany = <T extends TSchema>(row: T, maxItems: number) =>
  Type.Unsafe<Static<T> | Static<T>[]>({
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: { type: 'array', items: row, minItems: 1, maxItems },
    else: row,
  });

/** True if a text can be stored and sent on as it is: PostgreSQL takes no NUL, and UTF-8 no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
