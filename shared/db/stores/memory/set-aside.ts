import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../../statement.ts';

export type AffectedRows = Partial<Record<'raw_memories' | 'episodes' | 'facts', readonly string[]>>;

/**
 * How long the scheduler skips rows after a failed promotion: 10 minutes, doubled by each further failure, up to a day.
 */
const RETRY_DELAY = `least(interval '10 minutes' * power(2, least(failures, 10)), interval '1 day')`;

/** Records that a promotion of these rows has failed. Later promotions take other rows first. */
export async function setAside(
  em: EntityManager,
  accountId: string,
  affectedRows: AffectedRows,
): Promise<void> {
  await transaction(em, async (tx) => {
    // Locks the account first, as `changeMemory` does, so that the two cannot deadlock over rows.
    await tx.execute('select from accounts where id = ? for no key update', [accountId]);
    for (const [table, ids] of Object.entries(affectedRows))
      await tx.execute(
        `update ${table} set failures = failures + 1, retry_at = now() + ${RETRY_DELAY}
          where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
        [accountId, JSON.stringify(ids)],
      );
  });
}

export async function clearFailures(
  tx: EntityManager,
  accountId: string,
  affectedRows: AffectedRows,
): Promise<void> {
  for (const [table, ids] of Object.entries(affectedRows))
    await tx.execute(
      `update ${table} set failures = 0, retry_at = null
        where account_id = ? and failures > 0 and id in (select json_array_elements_text(?::json)::uuid)`,
      [accountId, JSON.stringify(ids)],
    );
}
