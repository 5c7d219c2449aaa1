import { hkdfSync } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { SigningKeys } from '../../shared/config/values.ts';
import type { Account } from '../../shared/db/entities/account.ts';
import { isKnownNetwork, rememberNetwork } from '../../shared/db/stores/log-ins.ts';
import { fingerprint } from '../../shared/security/fingerprint.ts';
import { networkOf } from '../limits/network.ts';

const KEY_BYTES = 32;

/**
 * The networks from which each account logged in. Stored as an HMAC over account and network: a plain hash of an IPv4
 * address is reversed by trying all of them.
 */
export class KnownNetworks {
  readonly #em: () => EntityManager;
  readonly #key: Buffer;

  /** Another first signing key forgets them. */
  constructor(em: () => EntityManager, [{ secret }]: SigningKeys) {
    this.#em = em;
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'forecue login networks', KEY_BYTES));
  }

  async remember({ id, emailKey }: Account, address: string): Promise<void> {
    await rememberNetwork(this.#em(), id, this.#hash(emailKey, address));
  }

  knows(emailKey: string, address: string): Promise<boolean> {
    return isKnownNetwork(this.#em(), emailKey, this.#hash(emailKey, address));
  }

  #hash(emailKey: string, address: string): Buffer {
    return fingerprint(this.#key, `${emailKey} ${networkOf(address)}`);
  }
}
