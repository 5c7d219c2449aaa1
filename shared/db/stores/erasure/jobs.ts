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
  await endJobs(em, accountId, windowS);
  // An account's work costs no unit; by the index on that.
  await em.execute('delete from history where party = ? and month is null', [accountId]);
  await em.execute('delete from flows where party = ?', [accountId]);
}
