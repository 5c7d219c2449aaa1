import type { Log } from '../../shared/log.ts';
import { networkOf } from '../request/address.ts';
import { type Limiter, type LimiterFactory, takeOrRefuse } from './limiter.ts';

const WINDOW_S = 60 * 60;
/**
 * Maximum sign-up attempts per window from one network, successful or not: enough for a classroom, not for a script.
 */
const ATTEMPTS_PER_NETWORK = 100;
/** Number of new accounts per window, in the whole installation, above which a warning is logged. */
const WARNING_ACCOUNTS = 1000;

/** Limits each network's sign-up attempts, and logs a warning when all networks together create very many accounts. */
export class SignUpLimit {
  readonly #network: Limiter | undefined;
  readonly #total: Limiter;
  readonly #log: Log;
  #quietUntil = Number.NEGATIVE_INFINITY;

  /** `isOff` turns off the limit, but not the warning. */
  constructor(limits: Pick<LimiterFactory, 'open'>, log: Log, { isOff }: { isOff: boolean }) {
    const perNetwork = { name: 'sign-up-network', points: ATTEMPTS_PER_NETWORK, windowS: WINDOW_S };
    this.#network = isOff ? undefined : limits.open(perNetwork);
    this.#total = limits.open({ name: 'sign-up', points: WARNING_ACCOUNTS, windowS: WINDOW_S });
    this.#log = log;
  }

  async countAttempt(address: string): Promise<void> {
    if (this.#network !== undefined) await takeOrRefuse(this.#network, networkOf(address));
  }

  /** Counts a new account. Logs a warning beyond `WARNING_ACCOUNTS`, at most once per window and process. */
  async countAccount(): Promise<void> {
    const { allowed, resetS } = await this.#total.take('all');
    if (allowed || performance.now() < this.#quietUntil) return;
    this.#quietUntil = performance.now() + resetS * 1000;
    this.#log.warn({ perHour: WARNING_ACCOUNTS }, 'unusually many sign-ups in the whole installation');
  }
}
