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
 * work was cancelled, or is now run by another worker.
 */
export async function storeProgress(tx: EntityManager, claim: ClaimHolder, progress: object): Promise<void> {
  const changedRows = await tx.execute<object[]>(
    `update work set progress = ?
      where id = ? and state = 'running' and attempt = ? and worker = ? returning 1`,
    [JSON.stringify(progress), claim.id, claim.attempt, claim.worker],
  );
  if (changedRows.length === 0) throw new ClaimLost();
}
