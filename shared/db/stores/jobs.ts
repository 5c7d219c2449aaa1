import type { EntityManager } from '@mikro-orm/postgresql';
import { announce } from './webhooks/announce.ts';
import type { Completion } from './work/complete.ts';
import type { KindRows } from './work/rows.ts';

/** Jobs have no rows of their own. The webhooks of their account hear how they ended. */
export const jobRows: KindRows = {
  ending: withJobKeys,

  async ended(tx, ended) {
    await announce(
      tx,
      ended.map(({ key, kind, party, state, code = null }) => ({
        account: party,
        event: 'job.finished',
        data: { job_id: key, kind, state, code },
      })),
    );
    return [];
  },
};

/** Adds the keys of jobs that are about to end: the ids by which their account knows them. */
export async function withJobKeys(
  tx: EntityManager,
  batch: readonly Completion[],
): Promise<readonly Completion[]> {
  const rows = await tx.execute<{ id: string; key: string }[]>(
    'select id, key from work where id = any (?::uuid[])',
    [`{${batch.map(({ id }) => id).join()}}`],
  );
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  return batch.map((one) => {
    const key = keys.get(one.id);
    return key === undefined ? one : { ...one, key };
  });
}
