import type { ValidationErrorBody } from '../../../shared/schemas/errors.ts';
import type { Json } from './document.ts';
import type { Received } from './send.ts';

const HEADER_BY_STATUS: Record<number, string> = {
  401: 'www-authenticate',
  405: 'allow',
  429: 'retry-after',
  503: 'retry-after',
};
const UNIVERSAL_HEADERS = ['x-request-id', 'x-content-type-options', 'cache-control'];

export function headersFault({ status, headers }: Pick<Received, 'status' | 'headers'>): string | undefined {
  const needed = [
    ...UNIVERSAL_HEADERS,
    ...(status in HEADER_BY_STATUS ? [HEADER_BY_STATUS[status] ?? ''] : []),
    ...(status >= 400 ? ['x-error-source'] : []),
  ];
  const missing = needed.find((name) => headers[name] === undefined);
  return missing === undefined ? undefined : `${status} without ${missing}`;
}

/** Matches names of properties whose values no error repeats. */
const SECRET_NAME = /passw|secret|token|code|verifier|key|refresh|access|credential|authorization/i;

/** Checks a 422's list against the sent body: each place occurs once, with the value found there if it is a short scalar. */
export function listFault(sent: Json, text: string): string | undefined {
  const { detail }: ValidationErrorBody = JSON.parse(text);
  const places = detail.map(({ loc }) => JSON.stringify(loc));
  if (new Set(places).size < places.length) return 'a place is listed twice';
  for (const { loc, type, input } of detail) {
    const [root, ...path] = loc;
    if (root !== 'body') return `${root} is no place in a body`;
    const found = path.reduce<unknown>(valueAt, sent);
    if (type === 'missing' ? found !== undefined : found === undefined && sent !== undefined)
      return `${JSON.stringify(loc)} is ${type}`;
    if (input !== undefined && found !== input) return `${JSON.stringify(loc)} is not what was sent`;
    // An unknown property may be a secret under a misspelled name, and a body that is no object one as well.
    if (
      input === undefined &&
      type !== 'extra_forbidden' &&
      path.length > 0 &&
      isShown(found) &&
      !path.some((part) => SECRET_NAME.test(`${part}`))
    )
      return `${JSON.stringify(loc)} is without its input`;
  }
  return undefined;
}

function isShown(value: unknown): boolean {
  if (typeof value === 'string') return [...value].length <= 200 && !/\/\/[^/]*@/.test(value);
  return value === null || typeof value === 'boolean' || Number.isFinite(value);
}

/** A 422 shows only the first 200 code points of a name. */
function valueAt(value: unknown, name: string | number): unknown {
  const properties = (value ?? {}) as Record<string, unknown>;
  const isCut = typeof name === 'string' && [...name].length === 200;
  const wholeName = isCut ? Object.keys(properties).find((one) => one.startsWith(name)) : name;
  return properties[wholeName ?? name];
}
