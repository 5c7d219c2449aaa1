import type { EntityManager } from '@mikro-orm/postgresql';
import type { Claim } from './claim.ts';

/** Thrown in a worker that has lost its claim. The worker may store nothing more for the work. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

type ClaimHolder = Pick<Claim, 'id' | 'attempt' | 'worker'>;

/** Returns undefined if no attempt has stored progress. */
export async function readProgress<Progress>(
  em: EntityManager,
  { id }: Pick<ClaimHolder, 'id'>,
): Promise<Progress | undefined> {
  const [row] = await em.execute<{ progress: string | null }[]>('select progress from work where id = ?', [
    id,
  ]);
  return row?.progress ? JSON.parse(row.progress) : undefined;
}

/**
 * Stores progress in the caller's transaction, so that a later attempt continues from it. Throws `ClaimLost` if the
 * work was cancelled, or is now run by another worker. Without a `worker`, the work is left to its parts, of which the
 * last one ends it (`KindRows`).
 */
export async function storeProgress(
  tx: EntityManager,
  claim: ClaimHolder,
  progress: object,
  worker: string | null = claim.worker,
): Promise<void> {
  const changedRows = await tx.execute<object[]>(
    `update work set progress = ?, worker = ?
      where id = ? and state = 'running' and attempt = ? and worker = ? returning 1`,
    [JSON.stringify(progress), worker, claim.id, claim.attempt, claim.worker],
  );
  if (changedRows.length === 0) throw new ClaimLost();
}
