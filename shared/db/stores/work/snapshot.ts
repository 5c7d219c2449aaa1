import type { Pool } from 'pg';
import type { QueueSnapshot } from '../../../domain/load.ts';
import { query } from '../../statement.ts';

const PUBLISH = { name: 'publish_v1', text: 'select publish_v1($1::text[]) as busy' };

/** Publishes the snapshot of a pool's queue, for all ingresses. Returns whether anything waits or runs. */
export async function publish(pool: Pool, kinds: readonly string[]): Promise<boolean> {
  const [row] = await query<{ busy: boolean }>(pool, PUBLISH, [kinds]);
  return row?.busy ?? false;
}

const READ = {
  name: 'snapshot_v2',
  text: `select q.snapshot, (extract(epoch from clock_timestamp() - q.published_at) * 1000)::float8 as "ageMs",
                living.workers, living.slots, living.claimed
           from (
             select snapshot, published_at from queue_snapshots where kind = $1 order by page desc limit 1) q
          cross join (
             select count(*)::int as workers,
                    coalesce(sum((pools -> $2 ->> 'slots')::int), 0)::int as slots,
                    coalesce(sum((pools -> $2 ->> 'claimed')::bigint), 0)::float8 as claimed
               from processes where alive_until > now() and pools ? $2) living
          where q.snapshot is not null`,
};

interface SnapshotRow extends Pick<QueueSnapshot, 'ageMs' | 'workers' | 'slots' | 'claimed'> {
  snapshot: Pick<QueueSnapshot, 'oldestMs' | 'lastClaimMs' | 'running'> & {
    queuedByParty: Record<string, number>;
  };
}

/**
 * The latest snapshot of a kind's queue, with the workers of its pool that are alive now. Undefined before the first.
 */
export async function readSnapshot(
  pool: Pool,
  { name, pool: served }: { name: string; pool: string },
): Promise<Omit<QueueSnapshot, 'at'> | undefined> {
  const [row] = await query<SnapshotRow>(pool, READ, [name, served]);
  if (row === undefined) return undefined;
  const { snapshot, ...living } = row;
  return { ...snapshot, ...living, queuedByParty: new Map(Object.entries(snapshot.queuedByParty)) };
}
