import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../../transaction.ts';
import { completeWithin, type Subject } from '../work/complete.ts';

/** Cancels the account's jobs that have not ended; returns their ids. */
export function endJobs(em: EntityManager, accountId: string, windowS: number): Promise<string[]> {
  return transaction(em, async (tx) => {
    const live = await tx.execute<(Subject & { kind: string })[]>(
      `select w.id, w.party, w.month, w.kind from flows f
        cross join lateral (select l.* from work l where l.kind = f.kind and l.party = f.party offset 0) w
        where f.party = ?`,
      [accountId],
    );
    const end = { guard: 'live', state: 'cancelled' } as const;
    return completeWithin(
      tx,
      live.map(({ kind, ...subject }) => ({
        ...subject,
        ...end,
        code: kind === 'reply' || kind === 'batch_reply' ? 'prediction_cancelled' : 'job_cancelled',
      })),
      windowS,
    );
  });
}

/** Erases what is left of the account's jobs: unlike an app's predictions, they leave no tombstones. */
export async function eraseJobs(em: EntityManager, accountId: string, windowS: number): Promise<void> {
  do await endJobs(em, accountId, windowS);
  while (!(await deleteFlows(em, accountId)));
  // An account's work costs no unit; by the index on that.
  await em.execute('delete from history where party = ? and month is null', [accountId]);
}

/**
 * False when one has work again: without its flow nobody would ever find that. Locked in a statement of their own, because
 * an admission adds its work while it holds the lock.
 */
function deleteFlows(em: EntityManager, accountId: string): Promise<boolean> {
  return transaction(em, async (tx) => {
    await tx.execute('select from flows where party = ? order by kind for update', [accountId]);
    const idle = 'not exists (select from work w where w.kind = f.kind and w.party = f.party)';
    await tx.execute(`delete from flows f where f.party = ? and ${idle}`, [accountId]);
    const left = await tx.execute<object[]>('select from flows where party = ? limit 1', [accountId]);
    return left.length === 0;
  });
}
