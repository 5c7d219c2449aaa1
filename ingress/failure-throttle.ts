import { AppError } from '../shared/errors/app-error.ts';
import type { ErrorCode } from '../shared/errors/catalogue.ts';
import type { Limiter, Limits } from './limits/limiter.ts';
import { networkOf } from './middleware/address.ts';

const WINDOW_S = 15 * 60;
/** Wrong passwords in a window. One address may stand for a whole office. */
const PER_ACCOUNT = 10;
const PER_ADDRESS = 100;

/** The answers to a wrong password. */
const FAILURES: readonly ErrorCode[] = ['invalid_credentials', 'access_denied'];

/** Slows down who guesses passwords: counts the wrong ones for each account, existing or not, and for each address. */
export class FailureThrottle {
  readonly #account: Limiter;
  readonly #address: Limiter;

  constructor(limits: Limits) {
    this.#account = limits.open({ name: 'password-account', points: PER_ACCOUNT, windowS: WINDOW_S });
    this.#address = limits.open({ name: 'password-address', points: PER_ADDRESS, windowS: WINDOW_S });
  }

  /**
   * Checks a password, unless too many were wrong before (`rate_limited`). Counted before the check, so that guesses at
   * the same time count as well, and given back unless the password was wrong.
   */
  async guard<T>(
    { emailKey, address }: { emailKey: string; address: string },
    check: () => Promise<T>,
  ): Promise<T> {
    const network = networkOf(address);
    await count(this.#address, network);
    await count(this.#account, emailKey).catch(async (error: unknown) => {
      await this.#address.giveBack(network);
      throw error;
    });
    try {
      const result = await check();
      await this.#forgive(emailKey, network);
      return result;
    } catch (error) {
      if (!(error instanceof AppError && FAILURES.includes(error.code)))
        await this.#forgive(emailKey, network);
      throw error;
    }
  }

  async #forgive(emailKey: string, network: string): Promise<void> {
    await Promise.all([this.#account.giveBack(emailKey), this.#address.giveBack(network)]);
  }
}

async function count(limiter: Limiter, key: string): Promise<void> {
  const { allowed, resetS } = await limiter.take(key);
  if (allowed) return;
  // Nothing was guessed.
  await limiter.giveBack(key);
  throw new AppError('rate_limited', { retryAfterS: resetS });
}
