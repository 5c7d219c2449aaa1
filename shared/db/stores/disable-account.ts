import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../entities/account.ts';
import { transaction } from '../transaction.ts';
import { endSessions } from './accounts.ts';
import { revokeConnectionsOf } from './connections/revoke.ts';

/**
 * Disables an account: no credential of it works any more, and its connections end as by a revoke. Returns it, or
 * undefined when the id is none, or one that is being erased. What still runs is noticed by its worker and its caller, who look each second.
 */
export function disableAccount(em: EntityManager, id: string, windowS: number): Promise<Account | undefined> {
  return transaction(em, async (tx) => {
    await revokeConnectionsOf(tx, id, windowS);
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
