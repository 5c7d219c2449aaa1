import { hkdfSync } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { SigningKeys } from '../../shared/config/values.ts';
import type { Account } from '../../shared/db/entities/account.ts';
import { isKnownNetwork, rememberNetwork } from '../../shared/db/stores/log-ins.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { fingerprint } from '../../shared/security/fingerprint.ts';
import type { Limiter, Limits } from './limiter.ts';
import { networkOf } from './network.ts';

const WINDOW_S = 15 * 60;
/** Wrong passwords per window for one account from one network, and for any accounts from it: a whole office may share one. */
const PER_PAIR = 10;
const PER_NETWORK = 100;
/** Wrong passwords for one account from all networks that it never logged in from. */
const PER_ACCOUNT = { points: 50, windowS: 60 * 60 };

/** The answers to a wrong password. */
const FAILURES: readonly ErrorCode[] = ['invalid_credentials', 'access_denied'];

/** Network that gives a password, and the account. */
export interface Guess {
  /** The account, existing or not, by a name that only those share who may try its password in the same way. */
  subject: string;
  address: string;
  /** True if the account logged in from this network before; asked only when others' tries have used up a limit. */
  isKnown(): Promise<boolean>;
}

/**
 * Slows down password guessing (NIST SP 800-63B-4, 3.2.2). Nobody can shut a person out: the hard limit goes by account
 * and network, and an account passes the other limits on a network from which it logged in before.
 */
export class FailureThrottle {
  readonly #pair: Limiter;
  readonly #network: Limiter;
  readonly #account: Limiter;

  constructor(limits: Limits) {
    this.#pair = limits.open({ name: 'password-pair', points: PER_PAIR, windowS: WINDOW_S });
    this.#network = limits.open({ name: 'password-network', points: PER_NETWORK, windowS: WINDOW_S });
    this.#account = limits.open({ name: 'password-account', ...PER_ACCOUNT });
  }

  /**
   * Checks a password, unless too many were wrong before (`rate_limited`). Counts before the check, so that concurrent
   * guesses count as well, and refunds unless the password was wrong.
   */
  async guard<T>({ subject, address, isKnown }: Guess, check: () => Promise<T>): Promise<T> {
    const network = networkOf(address);
    const counted = new Points();
    try {
      await counted.take(this.#pair, `${subject} ${network}`);
      await counted.take(this.#network, network, isKnown);
      await counted.take(this.#account, subject, isKnown);
    } catch (error) {
      // The password was not guessed at.
      await counted.refund();
      throw error;
    }
    try {
      const result = await check();
      await counted.refund();
      return result;
    } catch (error) {
      if (!(error instanceof AppError && FAILURES.includes(error.code))) await counted.refund();
      throw error;
    }
  }
}

/** The points that one guess has taken. */
class Points {
  readonly #taken: (readonly [Limiter, string])[] = [];

  /** Throws `rate_limited` when there is none left, unless the caller is excepted. */
  async take(limiter: Limiter, key: string, isExcepted = async () => false): Promise<void> {
    const { allowed, resetS } = await limiter.take(key);
    if (allowed) {
      this.#taken.push([limiter, key]);
      return;
    }
    await limiter.refund(key);
    if (!(await isExcepted())) throw new AppError('rate_limited', { retryAfterS: resetS });
  }

  async refund(): Promise<void> {
    await Promise.all(this.#taken.map(([limiter, key]) => limiter.refund(key)));
  }
}

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
