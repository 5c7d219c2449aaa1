import { schemas } from './openapi-document.ts';
import type { Schema } from './schema-types.ts';

const PRIMITIVES: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

/** Python types of JSON Schemas. Python has no anonymous object types, so that each object gets a name. */
export class PythonShapes {
  /** Classes and aliases by name. */
  readonly #declared = new Map<string, string>();

  constructor() {
    for (const [name, schema] of Object.entries(schemas)) {
      const type = this.typeOf(schema, name);
      if (type !== name) this.#declared.set(name, `${name} = ${type}\n`);
    }
  }

  get text(): string {
    return [...this.#declared.values()].join('\n\n');
  }

  /** Writes a type, and declares the objects in it under names that begin with `name`. */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
    if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
    if (schema.anyOf !== undefined)
      return unionOf(schema.anyOf.map((one) => this.typeOf(one, name + distinctionOf(one))));
    if (schema.enum !== undefined) {
      const values = schema.enum.filter((value) => value !== null).map((value) => JSON.stringify(value));
      const literal = `Literal[${values.join(', ')}]`;
      return schema.enum.includes(null) ? unionOf([literal, 'None']) : literal;
    }
    const types = [schema.type ?? []].flat();
    if (types.length === 0) return 'Any';
    return unionOf(types.map((type) => PRIMITIVES[type] ?? this.#structureOf(type, schema, name)));
  }

  declare(name: string, members: readonly string[], doc = ''): string {
    const lines = members.map((member) => `    ${member}\n`).join('');
    const text = `class ${name}(TypedDict):\n${doc && `    """${doc}"""\n\n`}${lines}`;
    const known = this.#declared.get(name);
    if (known !== undefined && known !== text) throw new Error(`two Python types would be called ${name}`);
    this.#declared.set(name, text);
    return name;
  }

  #structureOf(type: string, schema: Schema, name: string): string {
    if (type === 'array') return `List[${this.typeOf(schema.items ?? {}, name)}]`;
    const { properties = {}, required = [] } = schema;
    if (Object.keys(properties).length === 0) return 'Dict[str, Any]';
    const members = Object.entries(properties).map(([key, one]) => {
      const type = this.typeOf(one, name + pascalOf(key));
      return `${key}: ${required.includes(key) ? type : `NotRequired[${type}]`}`;
    });
    return this.declare(name, members);
  }
}

/** `session.started` becomes `SessionStarted`. */
export function pascalOf(name: string): string {
  return name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function unionOf(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `Union[${distinct.join(', ')}]`;
}

/** Tells one object of a union from the others: by its kind, or by the property that only it has. */
function distinctionOf({ properties, required = [] }: Schema): string {
  const [kind, ...others] = properties?.['type']?.enum ?? [];
  if (typeof kind === 'string' && others.length === 0) return pascalOf(kind);
  return properties ? pascalOf(required.at(-1) ?? '') : '';
}
