export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Ignores inherited properties, because `name` comes from a file. */
export function propertyOf(value: unknown, name: string): unknown {
  const object = objectOf(value);
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isObject);
}

export function stringsOf(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** As `String`, which throws on an object of a file that has a `toString` of its own. */
export function asText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Throws if the line is not a JSON object. */
export function parseObject(line: string): JsonObject {
  const value: unknown = JSON.parse(line);
  if (!isObject(value)) throw new SyntaxError('not an object');
  return value;
}

export function tryParseObject(line: string): JsonObject | undefined {
  try {
    return parseObject(line);
  } catch {
    return undefined;
  }
}
