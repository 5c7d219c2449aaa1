import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SigningKeys } from '../../shared/config/signing-keys.ts';

const KEY_BYTES = 32;

/**
 * Tokens that prove that a form came from our own page: an HMAC over the browser's cookie and the attempt (OWASP's
 * signed double-submit cookie). The cookie changes at sign-in and sign-out, and the tokens with it.
 */
export class CsrfTokens {
  readonly #key: Buffer;

  constructor([{ secret }]: SigningKeys) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'forecue consent page csrf', KEY_BYTES));
  }

  issue(browser: string, attemptId: string): string {
    return this.#sign(browser, attemptId).toString('base64url');
  }

  /** Whether the token was issued to this browser for this attempt. */
  isGood(token: string, browser: string, attemptId: string): boolean {
    const given = Buffer.from(token, 'base64url');
    const right = this.#sign(browser, attemptId);
    return given.length === right.length && timingSafeEqual(given, right);
  }

  #sign(browser: string, attemptId: string): Buffer {
    return createHmac('sha256', this.#key).update(`${browser}.${attemptId}`).digest();
  }
}
