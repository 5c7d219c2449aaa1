export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** An own property of an object: the name comes from a file, so it may be that of an inherited one. */
export function propertyOf(value: unknown, name: string): unknown {
  const object = objectOf(value);
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The objects in the value if it is an array, else none. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The object on a line. Throws when there is none. */
export function parseObject(line: string): JsonObject {
  const value: unknown = JSON.parse(line);
  if (!isObject(value)) throw new SyntaxError('not an object');
  return value;
}

/** The object on a line; undefined when there is none. */
export function tryObject(line: string): JsonObject | undefined {
  try {
    return parseObject(line);
  } catch {
    return undefined;
  }
}
