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
  name: 'snapshot_v1',
  text: `select q.snapshot, (extract(epoch from clock_timestamp() - q.published_at) * 1000)::float8 as "ageMs",
                count(a.id)::int as workers,
                coalesce(sum((a.pools -> $2 ->> 'slots')::int), 0)::int as slots,
                coalesce(sum((a.pools -> $2 ->> 'claimed')::bigint), 0)::float8 as claimed
           from queues q
           left join processes a on a.alive_until > now() and a.pools ? $2
          where q.kind = $1 and q.snapshot is not null
          group by q.kind`,
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
