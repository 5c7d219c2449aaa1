import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** One piece of each party, and those of it that wait: as many as the rate limit lets come at once. */
const EACH = { each: 1, longest: 100 };
const WAIT_MS = 5000;

/** Party whose turn it is; `gone` aborts when the caller disconnects. */
interface Caller {
  party: string;
  gone?: AbortSignal;
}

/** Does something when its party's turn comes. Throws `overloaded` when too many of the party wait, or it has waited too long. */
export type TakeTurn = <Result>(caller: Caller, work: () => Promise<Result>) => Promise<Result>;

/**
 * Fair turns with a share of the connections: one piece of each party, an account or an app, at a time. Changes of an account
 * come one after the other in any case, because they lock its row; without turns each would hold a connection while it waits
 * for that.
 */
export function accountTurns(connections: number, share: number): TakeTurn {
  const limiter = new ConcurrencyLimiter({ atOnce: Math.ceil(share * connections), ...EACH });
  return (caller, work) => limiter.run(work, { ...caller, waitMs: WAIT_MS });
}
