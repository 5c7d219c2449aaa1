import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { transaction } from '../../transaction.ts';
import { completeWithin, type Subject } from '../work/complete.ts';

/** Predictions that the revoke ended: whoever waits for them or runs them must be woken after the commit. */
export interface Revoked {
  ended: string[];
}

/**
 * Ends the connection of an app's user, and all that runs under its grant, in one transaction. The second time it
 * changes nothing. Throws `not_found` if it is unknown or another app's, `access_denied` if it is another user's.
 */
export function revokeConnection(
  em: EntityManager,
  { id, appId, userId }: { id: string; appId: string; userId: string },
  windowS: number,
): Promise<Revoked> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<{ user_id: string }[]>(
      `select user_id from connections where id = ? and app_id = ? for update`,
      [id, appId],
    );
    if (found === undefined) throw new AppError('not_found');
    if (found.user_id !== userId) throw new AppError('access_denied');
    return { ended: await revoke(tx, [id], windowS) };
  });
}

/** The same, by the person whose account it is. Throws `not_found` if the account has no such connection. */
export function revokeOwnConnection(
  em: EntityManager,
  { id, accountId }: { id: string; accountId: string },
  windowS: number,
): Promise<Revoked> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<object[]>(
      `select id from connections where id = ? and account_id = ? for update`,
      [id, accountId],
    );
    if (found === undefined) throw new AppError('not_found');
    return { ended: await revoke(tx, [id], windowS) };
  });
}

/**
 * Ends every connection of an account, and denies its approved attempts that were not exchanged yet, within the
 * caller's transaction. Returns the ids of the predictions that ended.
 */
export async function revokeConnectionsOf(
  tx: EntityManager,
  accountId: string,
  windowS: number,
): Promise<string[]> {
  await tx.execute(
    `update connection_attempts set status = 'denied' where account_id = ? and status = 'approved'`,
    [accountId],
  );
  const connections = await tx.execute<{ id: string }[]>(
    `select id from connections where account_id = ? order by id for update`,
    [accountId],
  );
  return revoke(
    tx,
    connections.map(({ id }) => id),
    windowS,
  );
}

async function revoke(tx: EntityManager, connectionIds: string[], windowS: number): Promise<string[]> {
  await tx.execute(
    `update connections set status = 'revoked', revoked_at = now()
      where status = 'connected' and id in (select json_array_elements_text(?::json)::uuid)`,
    [JSON.stringify(connectionIds)],
  );
  return endPredictionsOf(tx, connectionIds, windowS);
}

/** Ends the work under connections whose rows the caller's transaction has locked; returns the ids. */
export async function endPredictionsOf(
  tx: EntityManager,
  connectionIds: string[],
  windowS: number,
): Promise<string[]> {
  const live = await tx.execute<Subject[]>(
    `select id, party, month from work where connection_id in (select json_array_elements_text(?::json)::uuid)`,
    [JSON.stringify(connectionIds)],
  );
  const revoked = { guard: 'live', state: 'failed', code: 'connection_revoked' } as const;
  return completeWithin(
    tx,
    live.map((one) => ({ ...one, ...revoked })),
    windowS,
  );
}
