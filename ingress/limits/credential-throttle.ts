import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import { networkOf } from '../request/address.ts';
import { type BufferedLimiter, type LimiterFactory, takeOrRefuse } from './limiter.ts';

/** The window is short, because an honest caller may share the address of somebody who guesses credentials. */
const WRONG_CREDENTIAL_LIMIT = { name: 'credential', points: 50, windowS: 10 };
/** Maximum simultaneous look-ups of unknown credentials from one network. */
const LOOK_UPS_AT_ONCE_MAX = 10;

/** An expired token does not count as a wrong credential: it was valid once. */
const WRONG_CODES: readonly ErrorCode[] = ['invalid_app_key', 'not_authenticated'];

/** Waits until a credential that may be a guess may be looked up. */
export type WaitForTurn = () => Promise<void>;

/**
 * Limits wrong credentials per network. Beyond the limit, a wrong credential gets `rate_limited`, but a valid one still
 * passes, so that a guesser cannot lock out others with the same address. Look-ups of credentials that none has found
 * before wait for each other, and share SQL statements.
 */
export class CredentialThrottle {
  readonly #wrongCredentials: BufferedLimiter | undefined;
  readonly #lookUps = new ConcurrencyLimiter({
    capacity: Number.POSITIVE_INFINITY,
    maxPerParty: LOOK_UPS_AT_ONCE_MAX,
  });

  /** Without `limits`, wrong credentials are not counted. */
  constructor(limits: Pick<LimiterFactory, 'openBuffered'> | undefined) {
    this.#wrongCredentials = limits?.openBuffered(WRONG_CREDENTIAL_LIMIT);
  }

  /** Throws `rate_limited`, and whatever `authenticate` throws. */
  async guard<T>(
    headers: IncomingHttpHeaders,
    address: string,
    authenticate: (turn: WaitForTurn) => Promise<T>,
  ): Promise<T> {
    const party = networkOf(address);
    let permit: Permit | undefined;
    const turn = async () => {
      permit ??= await this.#lookUps.acquire({ party });
    };
    try {
      return await authenticate(turn);
    } catch (error) {
      const isWrong =
        sendsCredential(headers) && error instanceof AppError && WRONG_CODES.includes(error.code);
      if (isWrong && this.#wrongCredentials) await takeOrRefuse(this.#wrongCredentials, party);
      throw error;
    } finally {
      permit?.release();
    }
  }
}

function sendsCredential(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-service-api-key'] !== undefined;
}
