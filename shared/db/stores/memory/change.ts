import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { transaction } from '../../statement.ts';

/**
 * Changes an account's memory in one transaction, and adds 1 to `accounts.memory_revision` if `counts`. Locks the
 * account's row, so changes of one account run one after another, and `work` needs no locks. Throws `not_authenticated`
 * if the account is gone, disabled or being erased.
 */
export function changeMemory<T>(
  em: EntityManager,
  accountId: string,
  work: (tx: EntityManager) => Promise<T>,
  { counts = true } = {},
): Promise<T> {
  return transaction(em, async (tx) => {
    const changedRows = await tx.execute<object[]>(
      `update accounts set memory_revision = memory_revision + ? where id = ? and active returning 1`,
      [Number(counts), accountId],
    );
    if (changedRows.length === 0) throw new AppError('not_authenticated');
    return work(tx);
  });
}
