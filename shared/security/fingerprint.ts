import { createHmac, hash } from 'node:crypto';

/** A value's JSON with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inKeyOrder(value));
}

/** A copy of a JSON value with all keys in order, so that equal values have equal texts. */
export function inKeyOrder<T>(value: T): T {
  // The copy has the keys and values of the original, so its type.
  return ordered(value) as T;
}

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const part = ordered((value as typeof copy)[key]);
    // Assigned, it would become the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: part, enumerable: true });
    else copy[key] = part;
  }
  return copy;
}

/** HMAC-SHA-256: equal for equal texts, and reveals nothing about an erased text without the key. */
export function fingerprint(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** A name that the same parts always have, and that does not say what they are. */
export function pseudonym(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);
}

/** The S256 code challenge of a verifier (RFC 7636, 4.2). */
export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}
