/** The JSON Schema keywords that affect a type. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

const PRIMITIVES: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** A property is optional unless `required` lists it. `prefix` goes before the names of components. */
export function typeOf(schema: Schema, prefix = ''): string {
  if (schema.$ref !== undefined) return prefix + schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(one, prefix)).join(' | ');
  const types = [schema.type ?? []].flat();
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (types.length === 0) return 'unknown';
  return types.map((type) => PRIMITIVES[type] ?? structureOf(type, schema, prefix)).join(' | ');
}

function structureOf(type: string, schema: Schema, prefix: string): string {
  if (type === 'array') return `(${typeOf(schema.items ?? {}, prefix)})[]`;
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(
    ([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(one, prefix)}; `,
  );
  const rest = additionalProperties === false ? '' : '[name: string]: unknown; ';
  return `{ ${members.join('')}${rest}}`;
}
