import { ConcurrencyLimiter } from '../limits/concurrency-limiter.ts';

/** One search of each account, and those of it that wait. */
const EACH = { each: 1, longest: 20 };
/** The part of the connections that searches may hold together. */
const SHARE = 1 / 5;
const WAIT_MS = 5000;

/** Whose search it is, and what is aborted when its caller disconnects. */
interface Searcher {
  accountId: string;
  gone: AbortSignal;
}

/** Does a search when its turn comes. Throws `overloaded` when too many of the account wait, or it has waited too long. */
export type Search = <Found>(searcher: Searcher, search: () => Promise<Found>) => Promise<Found>;

/**
 * Limits the connections that searches hold: one may compare each row of an account, which takes seconds, and predictions
 * need the same connections.
 */
export function openSearches(connections: number): Search {
  const limiter = new ConcurrencyLimiter({ atOnce: Math.ceil(SHARE * connections), ...EACH });
  return ({ accountId, gone }, search) =>
    limiter.run(search, {
      party: accountId,
      gone: AbortSignal.any([gone, AbortSignal.timeout(WAIT_MS)]),
    });
}
