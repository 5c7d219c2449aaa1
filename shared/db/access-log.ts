import type { Pool } from 'pg';
import type { UsedRows } from '../domain/context-envelope.ts';
import type { Log } from '../log.ts';
import type { ReadTier } from '../schemas/accesses.ts';
import { PendingCounts } from './pending-counts.ts';
import { addReads, type ReadCount, type ReadingParty } from './stores/access-log.ts';

/** Numbers of the rows that were read, by tier. */
export type Reads = Partial<Record<ReadTier, number>>;

/** Counts what is read of accounts, outside the path of calls. */
export interface AccessLog {
  /** A tier of which no row was read is not counted. */
  add(party: ReadingParty, reads: Reads): void;
  close(): Promise<void>;
}

export function openAccessLog(pool: Pool, log: Log): AccessLog {
  const counts = new PendingCounts<ReadCount>(
    {
      write: (rows) => addReads(pool, rows),
      merge(into, { reads, rows }) {
        into.reads += reads;
        into.rows += rows;
      },
      keyOf: ({ accountId, readerId, tier }) => `${accountId} ${readerId} ${tier}`,
    },
    (error) => log.warn({ err: error }, 'could not write what was read'),
  );
  return {
    add({ accountId, reader, readerId }, reads) {
      for (const [tier, rows] of Object.entries(reads) as [ReadTier, number][])
        if (rows > 0) counts.add({ accountId, reader, readerId, tier, reads: 1, rows });
    },
    close: () => counts.close(),
  };
}

/** What a prediction was made from. */
export function readsOf({ profile, facts, episodes, raw }: UsedRows): Reads {
  return {
    profile: Number(profile),
    facts: facts.length,
    episodes: episodes.length,
    raw: raw.length,
  };
}
