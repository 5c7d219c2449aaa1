import { type EntityManager, type RawQueryFragment, raw } from '@mikro-orm/postgresql';
import { Episode, Fact, RawMemory } from '../../entities/memory.ts';
import { transaction } from '../../statement.ts';

/** Ids of rows. */
export type AffectedRows = Partial<Record<'raw' | 'episodes' | 'facts', readonly string[]>>;

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
    const retryAt = raw(`now() + ${RETRY_DELAY}`);
    await change(tx, accountId, affectedRows, { failures: raw('failures + 1'), retryAt });
  });
}

export async function clearFailures(
  tx: EntityManager,
  accountId: string,
  affectedRows: AffectedRows,
): Promise<void> {
  await change(tx, accountId, affectedRows, { failures: 0, retryAt: null }, { failures: { $gt: 0 } });
}

async function change(
  tx: EntityManager,
  account: string,
  affectedRows: AffectedRows,
  values: { failures: number | RawQueryFragment; retryAt: RawQueryFragment | null },
  condition: { failures?: { $gt: number } } = {},
): Promise<void> {
  const among = (ids: readonly string[]) => ({ account, id: { $in: [...ids] }, ...condition });
  const { raw: rows = [], episodes = [], facts = [] } = affectedRows;
  if (rows.length > 0) await tx.nativeUpdate(RawMemory, among(rows), values);
  if (episodes.length > 0) await tx.nativeUpdate(Episode, among(episodes), values);
  if (facts.length > 0) await tx.nativeUpdate(Fact, among(facts), values);
}
