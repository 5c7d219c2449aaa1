import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import type { LeasedLimiter, LimiterFactory, Verdict } from './limiter.ts';
import { networkOf } from './network.ts';

/**
 * Limit of wrong credentials per network. The window is short so that an honest caller behind the same address as a
 * guesser can soon try again.
 */
const WRONG_LIMIT = { name: 'credential', points: 50, windowS: 10 };
/**
 * Maximum look-ups at once of one network's unproven credentials. A burst can exceed the limit by no more than this
 * number.
 */
const AT_ONCE = 10;
/** Interval of the rounds, in which unproven credentials from networks beyond the limit are looked up together. */
const ROUND_MS = 50;
/** Maximum number of credentials that wait for a round or are looked up in one. */
const IN_ROUNDS_MAX = 1000;

/** Error codes that count as a wrong credential. An expired token does not count: it was valid once. */
const WRONG_CODES: readonly ErrorCode[] = ['invalid_app_key', 'not_authenticated'];

/** Waits until an unproven credential may be looked up. Throws `rate_limited` when too many others wait already. */
export type WaitForTurn = () => Promise<void>;

/**
 * Limits the cost of wrong credentials. Counts them per network, whatever their type. A credential is unproven until a
 * look-up has found it. Beyond the limit, unproven credentials are looked up in rounds, so that any number of them
 * share few statements. A wrong credential then gets `rate_limited`, and a valid one passes: a neighbour behind the
 * same address can neither use up a caller's limit nor keep the caller out, unless the rounds are full. This does not
 * help guessing: a key has 256 random bits.
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

  /** Checks the credential of a request. Throws `rate_limited`, and whatever `authenticate` throws. */
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

/** Checks whether a credential was sent: a missing one is no guess. */
function isSent(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-service-api-key'] !== undefined;
}

function throwIfRefused(verdict: Verdict | undefined): void {
  if (verdict !== undefined && !verdict.allowed)
    throw new AppError('rate_limited', { retryAfterS: verdict.resetS });
}
