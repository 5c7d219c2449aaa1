/** Secrets with their key ids. The first signs, all verify, so that rotating a key logs nobody out. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];
export interface SigningKey {
  kid: string;
  secret: string;
}

/** An HMAC-SHA-256 key must be at least as long as the hash (RFC 7518, 3.2). */
const STRONG_BYTES = 32;
const LIST = /^[\w.-]{1,64}:[^,]+(,[\w.-]{1,64}:[^,]+)*$/;

/** Parses `JWT_SECRET`: one secret, or a list `kid:secret,…`. Undefined when a kid repeats or a secret is too short. */
export function parseSigningKeys(value: string, { strong }: { strong: boolean }): SigningKeys | undefined {
  const [first, ...others] = LIST.test(value)
    ? value.split(',').map(parseEntry)
    : [{ kid: 'default', secret: value }];
  if (first === undefined) return undefined;
  const keys = [first, ...others] as const;
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) return undefined;
  if (strong && keys.some(({ secret }) => Buffer.byteLength(secret) < STRONG_BYTES)) return undefined;
  return keys;
}

function parseEntry(entry: string): SigningKey {
  const colon = entry.indexOf(':');
  return { kid: entry.slice(0, colon), secret: entry.slice(colon + 1) };
}
