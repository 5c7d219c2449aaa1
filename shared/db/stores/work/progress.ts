import type { EntityManager } from '@mikro-orm/postgresql';
import type { Claim } from './claim.ts';

/** Error of a worker that has lost its claim. Whatever it does for the work from now on must have no effect. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

type Holder = Pick<Claim, 'id' | 'attempt' | 'worker'>;

/** Reads the progress that earlier attempts have stored; undefined if there is none. */
export async function readProgress<Progress>(
  em: EntityManager,
  { id }: Pick<Holder, 'id'>,
): Promise<Progress | undefined> {
  const [row] = await em.execute<{ progress: string | null }[]>('select progress from work where id = ?', [
    id,
  ]);
  return row?.progress ? JSON.parse(row.progress) : undefined;
}

/**
 * Stores the progress of work in the transaction that makes the progress, so that a later attempt continues from here.
 * Throws `ClaimLost`, so that the transaction has no effect, if the work was cancelled or is another worker's by now.
 */
export async function storeProgress(tx: EntityManager, claim: Holder, progress: object): Promise<void> {
  const changedRows = await tx.execute<object[]>(
    `update work set progress = ?
      where id = ? and state = 'running' and attempt = ? and worker = ? returning 1`,
    [JSON.stringify(progress), claim.id, claim.attempt, claim.worker],
  );
  if (changedRows.length === 0) throw new ClaimLost();
}
