export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object; otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns an own property of an object. The name comes from a file, so it may be the name of an inherited property. */
export function propertyOf(value: unknown, name: string): unknown {
  const object = objectOf(value);
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns the objects in an array; an empty list for any other value. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Parses the JSON object on a line. Throws if there is none. */
export function parseObject(line: string): JsonObject {
  const value: unknown = JSON.parse(line);
  if (!isObject(value)) throw new SyntaxError('not an object');
  return value;
}

/** Parses the JSON object on a line; undefined if there is none. */
export function tryParseObject(line: string): JsonObject | undefined {
  try {
    return parseObject(line);
  } catch {
    return undefined;
  }
}
