import type { EntityManager } from '@mikro-orm/postgresql';
import type { SigningKeys } from '../../shared/config/values.ts';
import type { Account } from '../../shared/db/entities/account.ts';
import { isKnownNetwork, rememberNetwork } from '../../shared/db/stores/log-ins.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { deriveKey, fingerprint } from '../../shared/security/fingerprint.ts';
import type { Limiter, Limits } from './limiter.ts';
import { networkOf } from './network.ts';

const WINDOW_S = 15 * 60;
/** Wrong passwords per window for one account from one network. */
const PER_PAIR = 10;
/** Wrong passwords per window from one network for all accounts: it may be an office. */
const PER_NETWORK = 100;
/** Wrong passwords for one account, above which only networks from which it logged in before may try. */
const PER_ACCOUNT = { points: 50, windowS: 60 * 60 };

/** Error codes that count as a wrong password. */
const WRONG_CODES: readonly ErrorCode[] = ['invalid_credentials', 'access_denied'];

/** One try of a password: for which account, and from where. */
export interface Guess {
  /** Name under which the account's tries count: its id if one needs its credential to try, else its e-mail key. */
  subject: string;
  address: string;
  /** Returns true if the account logged in from this network before. Called only when a limit is used up. */
  isKnown(): Promise<boolean>;
}

/**
 * Slows down password guessing (NIST SP 800-63B-4, 3.2.2). Strangers cannot lock a person out: the hard limit counts
 * per account and network, and the other limits do not hold on networks from which the account logged in before.
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
    const counted = new TakenPoints();
    try {
      await counted.take(this.#pair, `${subject} ${network}`);
      await counted.take(this.#network, network, isKnown);
      await counted.take(this.#account, subject, isKnown);
    } catch (error) {
      // The password was not tried.
      await counted.refund();
      throw error;
    }
    try {
      const result = await check();
      await counted.refund();
      return result;
    } catch (error) {
      if (!(error instanceof AppError && WRONG_CODES.includes(error.code))) await counted.refund();
      throw error;
    }
  }
}

/** Points that one guess has taken. */
class TakenPoints {
  readonly #taken: (readonly [Limiter, string])[] = [];

  /** Takes a point. Throws `rate_limited` when none is left, unless the caller is excepted. */
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

/**
 * Networks from which each account logged in, stored as HMACs over account and network: a plain hash of an IPv4 address
 * could be reversed by trying all addresses.
 */
export class KnownNetworks {
  readonly #em: () => EntityManager;
  readonly #signingKeys: SigningKeys;

  /** The HMAC keys are derived from the signing keys: removing one forgets what was remembered while it was the first. */
  constructor(em: () => EntityManager, signingKeys: SigningKeys) {
    this.#em = em;
    this.#signingKeys = signingKeys;
  }

  async remember({ id, emailKey }: Account, address: string): Promise<void> {
    await rememberNetwork(this.#em(), id, hashOf(this.#signingKeys[0], emailKey, address));
  }

  knows(emailKey: string, address: string): Promise<boolean> {
    const hashes = this.#signingKeys.map((key) => hashOf(key, emailKey, address));
    return isKnownNetwork(this.#em(), emailKey, hashes);
  }
}

function hashOf({ secret }: SigningKeys[number], emailKey: string, address: string): Buffer {
  return fingerprint(deriveKey(secret, 'forecue login networks'), `${emailKey} ${networkOf(address)}`);
}
