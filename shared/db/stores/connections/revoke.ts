import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../../transaction.ts';
import { completeWithin, type Subject } from '../work/complete.ts';

/** Predictions that the revoke ended: whoever waits for them or runs them is to be told after the commit. */
export interface Revoked {
  ended: string[];
}

/**
 * Ends the connection of an app's user, and all that runs under its grant, in one transaction. The second time it
 * changes nothing. Tells `not_found` of an unknown one or another app's, `access_denied` of another user's.
 */
export function revokeConnection(
  em: EntityManager,
  { id, appId, userId }: { id: string; appId: string; userId: string },
  windowS: number,
): Promise<Revoked | 'not_found' | 'access_denied'> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<{ user_id: string }[]>(
      `select user_id from connections where id = ? and app_id = ? for update`,
      [id, appId],
    );
    if (found === undefined) return 'not_found';
    if (found.user_id !== userId) return 'access_denied';
    return { ended: await revoke(tx, [id], windowS) };
  });
}

/** The same, by the person whose account it is; undefined when the account has no such connection. */
export function revokeOwnConnection(
  em: EntityManager,
  { id, accountId }: { id: string; accountId: string },
  windowS: number,
): Promise<Revoked | undefined> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<object[]>(
      `select id from connections where id = ? and account_id = ? for update`,
      [id, accountId],
    );
    return found && { ended: await revoke(tx, [id], windowS) };
  });
}

/**
 * Ends every connection of an account, and what it approved that was not exchanged yet, within the caller's
 * transaction. Returns the ids of the predictions that ended.
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

/** Ends what runs under connections whose rows the caller's transaction has locked; returns the work's ids. */
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
