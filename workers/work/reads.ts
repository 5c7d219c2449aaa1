import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** Share of the handlers' connections that reads of memory may hold together. */
const CONNECTIONS_SHARE = 1 / 2;
/** Maximum number of reads of one memory at once. */
const READS_PER_MEMORY_MAX = 2;

/** The party that reads, the memory that it reads, and a signal that aborts when nobody waits any more. */
export interface Reader {
  party: string;
  memory: string;
  gone?: AbortSignal;
}

/** Reads when it is the turn of the memory and of the party. Throws `overloaded` if the reader is gone before that. */
export type ReadInTurn = <Read>(reader: Reader, read: () => Promise<Read>) => Promise<Read>;

/**
 * Gives reads fair turns: a memory delays the others of its party by one read at most, and no party holds all
 * connections.
 */
export function createReadInTurn(connections: number): ReadInTurn {
  const atOnce = Math.ceil(CONNECTIONS_SHARE * connections);
  const memories = new ConcurrencyLimiter({ atOnce: Number.POSITIVE_INFINITY, each: READS_PER_MEMORY_MAX });
  const parties = new ConcurrencyLimiter({ atOnce, each: Math.max(1, atOnce - 1) });
  return ({ party, memory, gone }, read) =>
    memories.run(() => parties.run(read, { party, gone }), { party: memory, gone });
}
