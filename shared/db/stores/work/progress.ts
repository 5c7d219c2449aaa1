import type { EntityManager } from '@mikro-orm/postgresql';
import type { Claim } from './claim.ts';

/** Thrown to a worker that has lost its claim. Nothing that it does for the work from now on may have an effect. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

type Holder = Pick<Claim, 'id' | 'attempt' | 'worker'>;

/** Undefined if no earlier attempt has stored any. */
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
 * Stores progress in the transaction that makes it, so that a later attempt continues from here. Throws `ClaimLost` if
 * the work was cancelled or is another worker's by now.
 */
export async function storeProgress(tx: EntityManager, claim: Holder, progress: object): Promise<void> {
  const changedRows = await tx.execute<object[]>(
    `update work set progress = ?
      where id = ? and state = 'running' and attempt = ? and worker = ? returning 1`,
    [JSON.stringify(progress), claim.id, claim.attempt, claim.worker],
  );
  if (changedRows.length === 0) throw new ClaimLost();
}
