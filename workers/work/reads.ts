import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** Share of the handlers' connections that reads of memory may hold together. */
const CONNECTIONS_SHARE = 1 / 2;
/** Maximum number of reads of one memory at once. */
const READS_PER_MEMORY_MAX = 2;

/** A party that reads memory. The signal aborts when nobody waits for the read any more. */
export interface Reader {
  party: string;
  memory: string;
  gone?: AbortSignal;
}

/** Reads when the memory and the party have their turn. Throws `overloaded` if `gone` aborts before the turn. */
export type FairReads = <Read>(reader: Reader, read: () => Promise<Read>) => Promise<Read>;

/**
 * Creates a function that gives reads fair turns. At most two reads of one memory run at once, and no party holds all
 * connections for reads, if there are at least two.
 */
export function createFairReads(poolSize: number): FairReads {
  const capacity = Math.ceil(CONNECTIONS_SHARE * poolSize);
  const memories = new ConcurrencyLimiter({
    capacity: Number.POSITIVE_INFINITY,
    maxPerParty: READS_PER_MEMORY_MAX,
  });
  const parties = new ConcurrencyLimiter({ capacity, maxPerParty: Math.max(1, capacity - 1) });
  return ({ party, memory, gone }, read) =>
    memories.run(() => parties.run(read, { party, gone }), { party: memory, gone });
}
