import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';

/** Reads of memory may use at most this share of the handlers' database connections. */
const CONNECTIONS_SHARE = 1 / 2;
const READS_PER_MEMORY_MAX = 2;

export interface Reader {
  party: string;
  memory: string;
  gone?: AbortSignal;
}

/**
 * Queues a read of memory, fairly among memories and parties. Rejects with `overloaded` if `gone` aborts while the read
 * waits.
 */
export type FairReads = <Read>(reader: Reader, read: () => Promise<Read>) => Promise<Read>;

/**
 * At most two reads of one memory run at once. No party uses all of the connections that are meant for reads, unless
 * there is only one.
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
