import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** The part of the handlers' connections that reads of memory hold together. */
const SHARE = 1 / 2;
/** The reads of one memory that run at once. */
const OF_ONE = 2;

/** The party that reads, the memory that it reads, and a signal that aborts when nobody waits for it any longer. */
export interface Reader {
  party: string;
  memory: string;
  gone?: AbortSignal;
}

/** Reads when the turn of the memory has come, and that of the party. Throws `overloaded` when the reader is gone before. */
export type ReadInTurn = <Read>(reader: Reader, read: () => Promise<Read>) => Promise<Read>;

/** Fair turns: no memory delays the others of its party by more than a read, and no party holds all of the connections. */
export function readsInTurn(connections: number): ReadInTurn {
  const atOnce = Math.ceil(SHARE * connections);
  const memories = new ConcurrencyLimiter({ atOnce: Number.POSITIVE_INFINITY, each: OF_ONE });
  const parties = new ConcurrencyLimiter({ atOnce, each: Math.max(1, atOnce - 1) });
  return ({ party, memory, gone }, read) =>
    memories.run(() => parties.run(read, { party, gone }), { party: memory, gone });
}
