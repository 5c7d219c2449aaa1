import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { Account } from '../../entities/account.ts';
import { transaction } from '../../statement.ts';

/** Thrown if memory has changed since a worker read it: results made of it may repeat deleted texts. */
export class MemoryChanged extends Error {
  override readonly name = 'MemoryChanged';
}

/**
 * Changes an account's memory in one transaction, and adds 1 to `accounts.memory_revision` if `counts`. Locks the
 * account's row, so changes of one account run one after another, and `work` needs no locks. Throws `not_authenticated`
 * if the account is gone, or disabled or being erased unless `evenDisabled`.
 */
export function changeMemory<T>(
  em: EntityManager,
  accountId: string,
  work: (tx: EntityManager) => Promise<T>,
  { counts = true, evenDisabled = false } = {},
): Promise<T> {
  return transaction(em, async (tx) => {
    const changedRows = await tx.nativeUpdate(
      Account,
      { id: accountId, ...(!evenDisabled && { active: true }) },
      { memoryRevision: raw('memory_revision + ?', [Number(counts)]) },
    );
    if (changedRows === 0) throw new AppError('not_authenticated');
    return work(tx);
  });
}
