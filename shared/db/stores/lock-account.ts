import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Locks an active account until the transaction ends: `key share` keeps it from being erased, `share` from being
 * disabled too, and for `no key update` others that ask for this lock wait. Returns its generation of log-ins; undefined
 * if it is disabled or gone.
 */
export async function lockActiveAccount(
  tx: EntityManager,
  id: string,
  lock: 'key share' | 'share' | 'no key update',
): Promise<number | undefined> {
  const [account] = await tx.execute<{ generation: number }[]>(
    `select login_generation as generation from accounts where id = ? and active for ${lock}`,
    [id],
  );
  return account?.generation;
}
