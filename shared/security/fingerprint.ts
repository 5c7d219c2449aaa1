import { createHash, createHmac } from 'node:crypto';

/** The JSON of a value with the keys of every object in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** HMAC-SHA-256: tells equal texts from different ones, and nothing about an erased one to who lacks the key. */
export function fingerprint(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** The S256 code challenge of a verifier (RFC 7636, 4.2). */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
