import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** Each party runs one piece of work at a time. Further pieces wait, up to one burst of the default rate limit. */
const PARTY_LIMITS = { maxPerParty: 1, maxQueued: 100 };
const WAIT_MS = 5000;

interface Caller {
  party: string;
  gone?: AbortSignal | undefined;
}

/** Queue for an account's log-ins, approvals and password resets. A thief of a key could fill only other queues. */
export function logInParty(accountId: string): string {
  return `${accountId} log-in`;
}

/**
 * Does the work when its party's turn comes. Throws `overloaded` when the party's queue is full, when the wait takes
 * too long, or when `gone` aborts.
 */
export type TakeTurn = <Result>(caller: Caller, work: () => Promise<Result>) => Promise<Result>;

/**
 * Lets parties (apps, or queues of accounts) take turns at using a share of the database connections. Without turns,
 * many changes of one account could hold all connections, each waiting for the lock on the account's row.
 */
export function accountTurns(connections: number, share: number): TakeTurn {
  const limiter = new ConcurrencyLimiter({ capacity: Math.ceil(share * connections), ...PARTY_LIMITS });
  return (caller, work) => limiter.run(work, { ...caller, waitMs: WAIT_MS });
}
