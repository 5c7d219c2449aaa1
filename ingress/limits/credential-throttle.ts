import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import { networkOf } from '../http/address.ts';
import type { LeasedLimiter, LimiterFactory, Verdict } from './limiter.ts';

/** The window is short, because an honest caller may share the address of somebody who guesses credentials. */
const WRONG_CREDENTIAL_LIMIT = { name: 'credential', points: 50, windowS: 10 };
/** Maximum simultaneous look-ups of unknown credentials from one network. A burst may exceed the limit by this. */
const LOOK_UPS_AT_ONCE_MAX = 10;
const ROUND_MS = 50;
const LOOK_UPS_IN_ROUNDS_MAX = 1000;

/** An expired token does not count as a wrong credential: it was valid once. */
const WRONG_CODES: readonly ErrorCode[] = ['invalid_app_key', 'not_authenticated'];

/** Waits until a credential that may be a guess may be looked up. Throws `rate_limited` if too many others wait. */
export type WaitForTurn = () => Promise<void>;

/**
 * Limits wrong credentials per network. Beyond the limit, a wrong credential gets `rate_limited`, but a valid one still
 * passes, so that a guesser cannot lock out others with the same address. Credentials that no look-up has found before
 * then wait for the next round of `ROUND_MS`, whose look-ups share a few SQL statements. While
 * `LOOK_UPS_IN_ROUNDS_MAX` others are in rounds, such a credential gets `rate_limited` even if it is valid.
 */
export class CredentialThrottle {
  readonly #wrongCredentials: LeasedLimiter | undefined;
  readonly #lookUps = new ConcurrencyLimiter({
    capacity: Number.POSITIVE_INFINITY,
    maxPerParty: LOOK_UPS_AT_ONCE_MAX,
  });
  #lookUpsInRounds = 0;
  readonly #nextRound = sharedPause(ROUND_MS);

  /** Without `limits`, wrong credentials are not counted. */
  constructor(limits: Pick<LimiterFactory, 'lease'> | undefined) {
    this.#wrongCredentials = limits?.lease(WRONG_CREDENTIAL_LIMIT);
  }

  /** Throws `rate_limited`, and whatever `authenticate` throws. */
  async guard<T>(
    headers: IncomingHttpHeaders,
    address: string,
    authenticate: (turn: WaitForTurn) => Promise<T>,
  ): Promise<T> {
    const party = networkOf(address);
    let permit: Permit | undefined;
    let isInRound = false;
    const turn = async () => {
      permit ??= await this.#lookUps.acquire({ party });
      const refusal = this.#wrongCredentials?.refusal(party);
      if (refusal === undefined) return;
      permit.release();
      if (this.#lookUpsInRounds === LOOK_UPS_IN_ROUNDS_MAX) throwIfRefused(refusal);
      isInRound = true;
      this.#lookUpsInRounds += 1;
      await this.#nextRound();
    };
    try {
      return await authenticate(turn);
    } catch (error) {
      if (sendsCredential(headers) && error instanceof AppError && WRONG_CODES.includes(error.code))
        throwIfRefused(await this.#wrongCredentials?.take(party));
      throw error;
    } finally {
      permit?.release();
      if (isInRound) this.#lookUpsInRounds -= 1;
    }
  }
}

function sendsCredential(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-service-api-key'] !== undefined;
}

function throwIfRefused(verdict: Verdict | undefined): void {
  if (verdict !== undefined && !verdict.allowed)
    throw new AppError('rate_limited', { retryAfterS: verdict.resetS });
}
