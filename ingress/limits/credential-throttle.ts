import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { ConcurrencyLimiter, type Permit } from './concurrency-limiter.ts';
import type { LeasedLimiter, Limits, Verdict } from './limiter.ts';
import { networkOf } from './network.ts';

/** Short, so that an honest caller whose neighbour guesses soon has another chance. */
const WRONG = { name: 'credential', points: 50, windowS: 10 };
/** Credentials never seen right that are looked up at once for one network: no burst outruns the count by more. */
const AT_ONCE = 10;

/** The answers to a wrong credential; an expired token was right once. */
const FAILURES: readonly ErrorCode[] = ['invalid_app_key', 'not_authenticated'];

/** Waits until a credential never seen right may be looked up. Throws `rate_limited` after too many wrong ones. */
export type Turn = () => Promise<void>;

/**
 * Limits what wrong credentials cost: counts them per network, whatever their sort, and refuses to look up further ones
 * from it that were never seen right. The others always pass: a neighbour behind the same address can neither use up
 * their limit nor keep them out.
 */
export class CredentialThrottle {
  readonly #wrong: LeasedLimiter | undefined;
  readonly #lookUps = new ConcurrencyLimiter({ atOnce: Number.POSITIVE_INFINITY, each: AT_ONCE });

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
    let permit: Permit | undefined;
    const turn = async () => {
      const party = networkOf(address);
      permit ??= await this.#lookUps.acquire({ party });
      refuse(this.#wrong?.refusal(party));
    };
    try {
      return await authenticate(turn);
    } catch (error) {
      if (isSent(headers) && error instanceof AppError && FAILURES.includes(error.code))
        refuse(await this.#wrong?.take(networkOf(address)));
      throw error;
    } finally {
      permit?.release();
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
