import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/**
 * Limits per party: one piece of work runs at a time; up to 100 more wait, as many as the default rate limit admits in
 * one burst.
 */
const PER_PARTY = { maxPerParty: 1, maxQueued: 100 };
const WAIT_MS = 5000;

/** Caller that wants a turn. `gone` aborts when it disconnects. */
interface Caller {
  party: string;
  gone?: AbortSignal | undefined;
}

/**
 * Names the party of an account's log-ins, approvals and new passwords. They wait apart from its changes, so that
 * somebody who found a key cannot keep the owner out.
 */
export function logInParty(accountId: string): string {
  return `${accountId} log-in`;
}

/**
 * Does the work when its party's turn comes. Throws `overloaded` when too much work of the party waits already, when
 * the work has waited too long, or when the caller is gone.
 */
export type TakeTurn = <Result>(caller: Caller, work: () => Promise<Result>) => Promise<Result>;

/**
 * Gives parties (apps, or the queues of accounts) fair turns on a share of the connections, one piece of work of each
 * party at a time. An account's changes run one after the other in any case, because they lock its row. Without turns,
 * each would hold a connection while it waits for that lock.
 */
export function accountTurns(connections: number, share: number): TakeTurn {
  const limiter = new ConcurrencyLimiter({ capacity: Math.ceil(share * connections), ...PER_PARTY });
  return (caller, work) => limiter.run(work, { ...caller, waitMs: WAIT_MS });
}
