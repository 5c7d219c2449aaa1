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

/** Optional on the wire, present after validation, which fills in the value. */
export const defaulted = <T extends TSchema>(schema: T, value: Static<T>): T =>
  Type.Optional({ ...schema, default: value } as never) as unknown as T;

/** Text of a person: bounded in code points, without NUL and lone surrogates, which no store keeps unchanged. */
export const text = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, wellFormed: true });
