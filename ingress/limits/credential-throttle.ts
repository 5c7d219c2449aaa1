import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import type { LeasedLimiter, Limits, Verdict } from './limiter.ts';
import { networkOf } from './network.ts';

/** Short, so that an honest caller whose neighbour guesses soon has another chance. */
const WRONG = { name: 'credential', points: 50, windowS: 10 };
/** Credentials never seen right that are looked up at once for one network: no burst outruns the count by more. */
const AT_ONCE = 10;
/** Rate at which credentials of networks beyond the limit are looked up, all together, and how many may wait for it or for their answer. */
const ROUND_MS = 50;
const IN_ROUNDS_MAX = 1000;

/** The answers to a wrong credential; an expired token was right once. */
const FAILURES: readonly ErrorCode[] = ['invalid_app_key', 'not_authenticated'];

/** Waits until a credential never seen right may be looked up. Throws `rate_limited` when too many wrong ones wait as well. */
export type Turn = () => Promise<void>;

/**
 * Limits what wrong credentials cost: counts them per network, whatever their sort. Beyond the limit those never seen right
 * are looked up in rounds, so that they share few statements, however many they are; a wrong one is then `rate_limited`, and
 * a right one passes: a neighbour behind the same address can neither use up a caller's limit nor keep it out. Guessing
 * gains nothing by it: a key has 256 random bits.
 */
export class CredentialThrottle {
  readonly #wrong: LeasedLimiter | undefined;
  readonly #lookUps = new ConcurrencyLimiter({ atOnce: Number.POSITIVE_INFINITY, each: AT_ONCE });
  #inRounds = 0;
  readonly #nextRound = sharedPause(ROUND_MS);

  /** Without limits it limits nothing. */
  constructor(limits: Pick<Limits, 'lease'> | undefined) {
    this.#wrong = limits?.lease(WRONG);
  }

  /** Checks the credential of a request. Throws what `authenticate` does, and `rate_limited`. */
  async guard<T>(
    headers: IncomingHttpHeaders,
    address: string,
    authenticate: (turn: Turn) => Promise<T>,
  ): Promise<T> {
    const party = networkOf(address);
    let permit: Permit | undefined;
    let isInRound = false;
    const turn = async () => {
      permit ??= await this.#lookUps.acquire({ party });
      const refusal = this.#wrong?.refusal(party);
      if (refusal === undefined) return;
      permit.release();
      if (this.#inRounds === IN_ROUNDS_MAX) refuse(refusal);
      isInRound = true;
      this.#inRounds += 1;
      await this.#nextRound();
    };
    try {
      return await authenticate(turn);
    } catch (error) {
      if (isSent(headers) && error instanceof AppError && FAILURES.includes(error.code))
        refuse(await this.#wrong?.take(party));
      throw error;
    } finally {
      permit?.release();
      if (isInRound) this.#inRounds -= 1;
    }
  }
}

/** A missing credential is no guess. */
function isSent(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-service-api-key'] !== undefined;
}

function refuse(verdict: Verdict | undefined): void {
  if (verdict !== undefined && !verdict.allowed)
    throw new AppError('rate_limited', { retryAfterS: verdict.resetS });
}
