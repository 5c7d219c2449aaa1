import type { Pool } from 'pg';
import type { BatchBundle, BatchProgress } from '../../../domain/replies/batch.ts';
import type { Material } from '../../../domain/replies/material.ts';
import { query } from '../../statement.ts';

const KEPT = {
  name: 'kept_batch_v1',
  text: `select w.progress, a.memory_revision::float8 as revision from work w join accounts a on a.id = w.party
          where w.id = $1::uuid and w.progress is not null`,
};

/**
 * The bundle of a batch that still runs and has that part, and the revision of the memory now; else undefined. A batch that
 * failed and runs again has the same id, but other parts: those of the first run may still be queued.
 */
export async function keptBundle(
  pool: Pool,
  batchId: string,
  partId: string,
): Promise<{ bundle: BatchBundle; revision: number } | undefined> {
  const [row] = await query<{ progress: string; revision: number }>(pool, KEPT, [batchId]);
  if (row === undefined) return undefined;
  const { bundle, ids } = JSON.parse(row.progress) as BatchProgress;
  return ids.includes(partId) ? { bundle, revision: row.revision } : undefined;
}

const MEMORY = {
  name: 'batch_memory_v1',
  text: `
    select (select json_build_object('summary', p.summary, 'data', p.data) from profiles p where p.account_id = $1::uuid)
             as profile,
           (select coalesce(json_agg(json_build_object('id', f.id, 'text', f.text, 'pinned', f.pinned)), '[]')
              from facts f where f.account_id = $1::uuid and f.id = any ($2::uuid[]) and f.stale_at is null) as facts,
           (select coalesce(json_agg(json_build_object('id', e.id, 'title', e.title, 'summary', e.summary)), '[]')
              from episodes e where e.account_id = $1::uuid and e.id = any ($3::uuid[]) and e.stale_at is null)
             as episodes,
           (select coalesce(json_agg(json_build_object(
                     'id', r.id, 'role', r.role, 'origin', r.origin, 'content', r.content)), '[]')
              from raw_memories r where r.account_id = $1::uuid and r.id = any ($4::uuid[])) as raw`,
};

/** The rows of a batch's bundle, as they are now: texts that were deleted since are not used any more. */
export async function batchMemory(
  pool: Pool,
  accountId: string,
  { factIds, episodeIds, rawIds }: BatchBundle,
): Promise<Omit<Material, 'examples'>> {
  const [row] = await query<Omit<Material, 'examples'>>(pool, MEMORY, [
    accountId,
    factIds,
    episodeIds,
    rawIds,
  ]);
  return row ?? { profile: null, facts: [], episodes: [], raw: [] };
}
