import type { EntityManager } from '@mikro-orm/postgresql';
import type { SigningKeys } from '../../shared/config/values.ts';
import type { Account } from '../../shared/db/entities/account.ts';
import { isKnownNetwork, rememberNetwork } from '../../shared/db/stores/log-ins.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { deriveKey, fingerprint } from '../../shared/security/fingerprint.ts';
import { networkOf } from '../request/address.ts';
import type { Limiter, LimiterFactory } from './limiter.ts';

const WINDOW_S = 15 * 60;
/** Maximum wrong passwords per window for one account from one network. */
const GUESSES_PER_ACCOUNT_AND_NETWORK = 10;
/** Maximum wrong passwords per window from one network, which a whole office may share. */
const GUESSES_PER_NETWORK = 100;
/**
 * Maximum wrong passwords for one account. Beyond it, only networks from which the account logged in before may try.
 */
const GUESSES_PER_ACCOUNT = { points: 50, windowS: 60 * 60 };

const WRONG_PASSWORD_CODES: readonly ErrorCode[] = ['invalid_credentials', 'access_denied'];

export interface PasswordAttempt {
  /** Name under which the account's attempts count: its id if it is logged in already, else its e-mail key. */
  subject: string;
  address: string;
  /** Returns true if the account logged in from this network before. Called only when a limit is used up. */
  isKnown(): Promise<boolean>;
}

/**
 * Slows down password guessing (NIST SP 800-63B-4, 3.2.2). Strangers cannot lock a person out: the strict limit counts
 * per account and network, and the other two limits exempt networks from which the account logged in before.
 */
export class PasswordThrottle {
  readonly #pair: Limiter;
  readonly #network: Limiter;
  readonly #account: Limiter;

  constructor(limits: LimiterFactory) {
    this.#pair = limits.open({
      name: 'password-pair',
      points: GUESSES_PER_ACCOUNT_AND_NETWORK,
      windowS: WINDOW_S,
    });
    this.#network = limits.open({ name: 'password-network', points: GUESSES_PER_NETWORK, windowS: WINDOW_S });
    this.#account = limits.open({ name: 'password-account', ...GUESSES_PER_ACCOUNT });
  }

  /**
   * Takes a point of each limit before the check, so that concurrent guesses count. Refunds the points unless the
   * password was wrong. Throws `rate_limited` if too many passwords were wrong.
   */
  async guard<T>({ subject, address, isKnown }: PasswordAttempt, check: () => Promise<T>): Promise<T> {
    const network = networkOf(address);
    const takenPoints = new TakenPoints();
    let isWrong = false;
    try {
      await takenPoints.take(this.#pair, `${subject} ${network}`);
      await takenPoints.take(this.#network, network, isKnown);
      await takenPoints.take(this.#account, subject, isKnown);
      return await check();
    } catch (error) {
      isWrong = error instanceof AppError && WRONG_PASSWORD_CODES.includes(error.code);
      throw error;
    } finally {
      if (!isWrong) await takenPoints.refund();
    }
  }
}

class TakenPoints {
  readonly #takenPoints: (readonly [Limiter, string])[] = [];

  /** Takes a point. Throws `rate_limited` when none is left, unless the caller is exempt. */
  async take(limiter: Limiter, key: string, isExempt = async () => false): Promise<void> {
    const { allowed, resetS } = await limiter.take(key);
    if (allowed) {
      this.#takenPoints.push([limiter, key]);
      return;
    }
    await limiter.refund(key);
    if (!(await isExempt())) throw new AppError('rate_limited', { retryAfterS: resetS });
  }

  async refund(): Promise<void> {
    await Promise.all(this.#takenPoints.map(([limiter, key]) => limiter.refund(key)));
  }
}

/** Networks from which each account logged in, as HMACs: a plain hash of an IPv4 address could be reversed. */
export class KnownNetworks {
  readonly #em: () => EntityManager;
  readonly #signingKeys: SigningKeys;

  /** `remember` uses the first signing key. When that key is removed from the settings, its networks are forgotten. */
  constructor(em: () => EntityManager, signingKeys: SigningKeys) {
    this.#em = em;
    this.#signingKeys = signingKeys;
  }

  async remember({ id, emailKey }: Account, address: string): Promise<void> {
    await rememberNetwork(this.#em(), id, networkHashOf(this.#signingKeys[0], emailKey, address));
  }

  knows(emailKey: string, address: string): Promise<boolean> {
    const hashes = this.#signingKeys.map((key) => networkHashOf(key, emailKey, address));
    return isKnownNetwork(this.#em(), emailKey, hashes);
  }
}

function networkHashOf({ secret }: SigningKeys[number], emailKey: string, address: string): Buffer {
  return fingerprint(deriveKey(secret, 'forecue login networks'), `${emailKey} ${networkOf(address)}`);
}
