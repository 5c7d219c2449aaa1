import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../entities/account.ts';
import { transaction } from '../transaction.ts';
import { endSessions } from './accounts.ts';
import { revokeConnectionsOf } from './connections/revoke.ts';

/**
 * Disables an account: its credentials stop working, and its connections end as by a revoke. Returns it, or undefined
 * when there is none with this id or it is being erased. Workers and waiting callers poll each second, so they notice.
 *
 * In two transactions: once the first has committed, nobody can approve or exchange for the account any more, so the
 * second finds all there is to revoke. (In one, it would lock the account before attempts, an exchange after its own.)
 * Safe to repeat, when this process dies in between.
 */
export async function disableAccount(
  em: EntityManager,
  id: string,
  windowS: number,
): Promise<Account | undefined> {
  const disabled = await endCredentials(em, id);
  if (disabled !== undefined) await transaction(em, (tx) => revokeConnectionsOf(tx, id, windowS));
  return disabled;
}

function endCredentials(em: EntityManager, id: string): Promise<Account | undefined> {
  return transaction(em, async (tx) => {
    const disabled = await tx.nativeUpdate(
      Account,
      { id, erasingAt: null },
      { active: false, updatedAt: new Date() },
    );
    if (disabled === 0) return undefined;
    await endSessions(tx, id);
    return (await tx.findOne(Account, { id })) ?? undefined;
  });
}
