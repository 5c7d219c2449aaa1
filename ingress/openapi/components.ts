import { readdirSync } from 'node:fs';
import type { TSchema } from 'typebox';

const SCHEMAS = new URL('../../shared/schemas/', import.meta.url);
const MODULES: object[] = await Promise.all(
  readdirSync(SCHEMAS).map((name) => import(new URL(name, SCHEMAS).href)),
);

/** Keywords of our own validator, which JSON Schema does not have. */
const UNPUBLISHED_KEYWORDS = ['wellFormed'];

interface ObjectSchema extends TSchema {
  type: unknown;
  properties: object;
  default?: unknown;
}

/** The document's schemas. An exported object schema becomes a component with its name; other schemas are inlined. */
export class Components {
  /**
   * By the `properties` object of a schema. `nullable`, `withDefault` and `Type.Optional` copy a schema, but the copy
   * has the same `properties` object.
   */
  readonly #exportedSchemas = new Map<object, { name: string; schema: ObjectSchema }>();
  readonly #usedSchemas = new Map<string, ObjectSchema>();

  constructor() {
    for (const module of MODULES)
      for (const [name, schema] of Object.entries(module))
        if (isObjectSchema(schema)) this.#exportedSchemas.set(schema.properties, { name, schema });
  }

  /** Returns the schema, as a reference if it has a name. */
  refer(schema: TSchema): object {
    return this.#copyWithReferences(schema);
  }

  /** Returns the schemas referred to so far, directly or through another schema, by name. */
  all(): Record<string, object> {
    const publishedSchemas = new Map<string, object>();
    // Publishing may refer to more schemas, which join the map while it is iterated.
    for (const [name, schema] of this.#usedSchemas)
      publishedSchemas.set(name, this.#copyWithReferences(schema, schema));
    return Object.fromEntries([...publishedSchemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Copies a schema, with references in place of every named schema except `itself`. */
  #copyWithReferences(schema: TSchema, itself?: TSchema): object {
    const copy = JSON.stringify(schema, (key, value: unknown) => {
      if (UNPUBLISHED_KEYWORDS.includes(key)) return undefined;
      return value === itself || !isObjectSchema(value) ? withoutDefault(value) : this.#reference(value);
    });
    return JSON.parse(copy);
  }

  #reference(copy: ObjectSchema): object {
    const found = this.#exportedSchemas.get(copy.properties);
    if (found === undefined) return copy;
    this.#usedSchemas.set(found.name, found.schema);
    const reference = { $ref: `#/components/schemas/${found.name}` };
    if (!Array.isArray(copy.type)) return reference;
    return withoutDefault({ anyOf: [reference, { type: 'null' }], default: copy.default });
  }
}

/** Moves a default to the description, because some client generators treat a property with a `default` as required. */
function withoutDefault<T>(value: T): T | object {
  if (typeof value !== 'object' || value === null || !('default' in value)) return value;
  const { default: given, ...schema } = value;
  return { ...schema, description: `Default: \`${JSON.stringify(given)}\`.` };
}

function isObjectSchema(value: unknown): value is ObjectSchema {
  return typeof value === 'object' && value !== null && 'type' in value && 'properties' in value;
}
