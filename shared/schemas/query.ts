import type { ParsedUrlQuery } from 'node:querystring';
import type { Static, TObject, TSchema } from 'typebox';
import { compile, type Validator } from './validator.ts';

/** As in JSON, with no more digits than a number keeps. */
const INTEGER = /^(0|-?[1-9]\d{0,14})$/;

/**
 * Compiles the schema of a query. A query is all text: where its schema has an integer, text that is one becomes that, and
 * any other is for the schema to refuse.
 */
export function compileQuery<T extends TObject>(
  schema: T,
): (sent: ParsedUrlQuery) => ReturnType<Validator<Static<T>>> {
  const check = compile(schema, 'query');
  const properties = Object.entries<TSchema & { type?: string }>(schema.properties);
  const integers = properties.flatMap(([name, { type }]) => (type === 'integer' ? [name] : []));
  return (sent) => {
    const query: Record<string, unknown> = { ...sent };
    for (const name of integers) {
      const value = query[name];
      if (typeof value === 'string' && INTEGER.test(value)) query[name] = Number(value);
    }
    return check(query);
  };
}
