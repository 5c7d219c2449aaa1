import { sha256 } from '@noble/hashes/sha2.js';

/** Replaces `node:crypto` in the browser, whose Web Crypto API has no synchronous digest. */
export function createHash(_algorithm: 'sha256') {
  const hash = sha256.create();
  const hashing = {
    update(text: string) {
      hash.update(new TextEncoder().encode(text));
      return hashing;
    },
    digest(_encoding: 'base64url'): string {
      return btoa(String.fromCharCode(...hash.digest()))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/=+$/, '');
    },
  };
  return hashing;
}
