import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import type { LeasedLimiter, LimiterFactory, Verdict } from './limiter.ts';
import { networkOf } from './network.ts';

/** The short window lets an honest caller with a guesser's address soon try again. */
const WRONG_LIMIT = { name: 'credential', points: 50, windowS: 10 };
/** Look-ups of one network's unproven credentials at a time; a burst can exceed `WRONG_LIMIT` by as many. */
const AT_ONCE = 10;
const ROUND_MS = 50;
const IN_ROUNDS_MAX = 1000;

/** An expired token does not count as a wrong credential: it was valid once. */
const WRONG_CODES: readonly ErrorCode[] = ['invalid_app_key', 'not_authenticated'];

/** Waits until an unproven credential may be looked up. Throws `rate_limited` when too many others wait. */
export type WaitForTurn = () => Promise<void>;

/**
 * Limits the cost of wrong credentials per network. Beyond the limit, unproven credentials (those that no look-up has
 * found yet) are looked up in rounds, which share few statements: a wrong one gets `rate_limited`, and a valid one
 * passes, so that a guesser cannot keep out a neighbour with the same address.
 */
export class CredentialThrottle {
  readonly #wrongCredentials: LeasedLimiter | undefined;
  readonly #lookUps = new ConcurrencyLimiter({ capacity: Number.POSITIVE_INFINITY, maxPerParty: AT_ONCE });
  #inRounds = 0;
  readonly #nextRound = sharedPause(ROUND_MS);

  /** Without `limits`, wrong credentials are not counted. */
  constructor(limits: Pick<LimiterFactory, 'lease'> | undefined) {
    this.#wrongCredentials = limits?.lease(WRONG_LIMIT);
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
      if (this.#inRounds === IN_ROUNDS_MAX) throwIfRefused(refusal);
      isInRound = true;
      this.#inRounds += 1;
      await this.#nextRound();
    };
    try {
      return await authenticate(turn);
    } catch (error) {
      if (isSent(headers) && error instanceof AppError && WRONG_CODES.includes(error.code))
        throwIfRefused(await this.#wrongCredentials?.take(party));
      throw error;
    } finally {
      permit?.release();
      if (isInRound) this.#inRounds -= 1;
    }
  }
}

function isSent(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-service-api-key'] !== undefined;
}

function throwIfRefused(verdict: Verdict | undefined): void {
  if (verdict !== undefined && !verdict.allowed)
    throw new AppError('rate_limited', { retryAfterS: verdict.resetS });
}
