import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** One piece of work of a party runs at a time. As many more wait as the default rate limit admits in one burst. */
const PER_PARTY = { maxPerParty: 1, maxQueued: 100 };
const WAIT_MS = 5000;

interface Caller {
  party: string;
  gone?: AbortSignal | undefined;
}

/**
 * Party of an account's log-ins, approvals and new passwords, which a thief who fills the other queues cannot delay.
 */
export function logInParty(accountId: string): string {
  return `${accountId} log-in`;
}

/**
 * Does the work when its party's turn comes. Throws `overloaded` when the party's queue is full, when the wait takes
 * too long, or when `gone` aborts.
 */
export type TakeTurn = <Result>(caller: Caller, work: () => Promise<Result>) => Promise<Result>;

/**
 * Gives parties (apps, or the queues of accounts) fair turns on a share of the connections. Without turns, each
 * change of an account would hold a connection while it waits for the lock on the account's row.
 */
export function accountTurns(connections: number, share: number): TakeTurn {
  const limiter = new ConcurrencyLimiter({ capacity: Math.ceil(share * connections), ...PER_PARTY });
  return (caller, work) => limiter.run(work, { ...caller, waitMs: WAIT_MS });
}
