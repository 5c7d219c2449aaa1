import type { EntityManager } from '@mikro-orm/postgresql';
import type { Claim } from './claim.ts';

/** The claim is no longer this worker's: whatever it does now must have no effect. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

type Holder = Pick<Claim, 'id' | 'attempt' | 'worker'>;

/** Reads the progress that earlier attempts have kept; undefined when there is none. */
export async function progressOf<Progress>(
  em: EntityManager,
  { id }: Pick<Holder, 'id'>,
): Promise<Progress | undefined> {
  const [row] = await em.execute<{ progress: string | null }[]>('select progress from work where id = ?', [
    id,
  ]);
  return row?.progress ? JSON.parse(row.progress) : undefined;
}

/**
 * Keeps what the work has done so far, in the transaction that does it: a later attempt goes on from here. Throws
 * `ClaimLost`, so that the transaction has no effect, when the work has been cancelled or is another worker's by now.
 */
export async function keepProgress(tx: EntityManager, claim: Holder, progress: object): Promise<void> {
  const kept = await tx.execute<object[]>(
    `update work set progress = ?
      where id = ? and state = 'running' and attempt = ? and worker = ? returning 1`,
    [JSON.stringify(progress), claim.id, claim.attempt, claim.worker],
  );
  if (kept.length === 0) throw new ClaimLost();
}
