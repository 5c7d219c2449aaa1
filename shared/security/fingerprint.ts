import { createHmac, hash, hkdfSync } from 'node:crypto';

/** Sorts the keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** Copies a JSON value with all keys sorted. */
export function sortKeys<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys) as Value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const part = sortKeys((value as typeof copy)[key]);
    // A plain assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: part, enumerable: true });
    else copy[key] = part;
  }
  return copy as Value;
}

/** Returns an HMAC. Without the key, it reveals nothing about the text, and so may be kept longer than the text. */
export function fingerprint(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

const KEY_BYTES = 32;

export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
}

/** Hashes the parts. The hash reveals none of them if at least one, such as a random id, cannot be guessed. */
export function pseudonym(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);
}

/** Returns the S256 code challenge of a verifier (RFC 7636, 4.2). */
export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}
