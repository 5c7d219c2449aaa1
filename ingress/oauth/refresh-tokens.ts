import { timingSafeEqual } from 'node:crypto';
import type { SigningKeys } from '../../shared/config/values.ts';
import type { RefreshClaim } from '../../shared/db/stores/grants.ts';
import { deriveKey, fingerprint } from '../../shared/security/fingerprint.ts';

const FORM = /^(?<grant>[0-9a-f-]{36})\.(?<number>\d{1,9})\.(?<mac>[\w-]{43})$/;

/**
 * Refresh tokens of grants: the grant's id, a number that grows with each refresh, and a MAC. So an earlier token is
 * known as one that was used, whenever it comes, and none takes a row.
 */
export class RefreshTokens {
  readonly #keys: readonly Buffer[];

  constructor(signingKeys: SigningKeys) {
    this.#keys = signingKeys.map(({ secret }) => deriveKey(secret, 'forecue refresh token'));
  }

  issue({ grantId, number }: RefreshClaim): string {
    const name = `${grantId}.${number}`;
    return `${name}.${fingerprint(this.#keys[0] ?? Buffer.alloc(0), name).toString('base64url')}`;
  }

  /** Undefined for a token that we did not issue. */
  read(token: string): RefreshClaim | undefined {
    const { grant = '', number = '', mac = '' } = token.match(FORM)?.groups ?? {};
    const given = Buffer.from(mac, 'base64url');
    const isOurs = this.#keys.some((key) => {
      const expected = fingerprint(key, `${grant}.${number}`);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    return isOurs ? { grantId: grant, number: Number(number) } : undefined;
  }
}
