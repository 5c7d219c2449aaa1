import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { transaction } from '../../statement.ts';
import { ROWS_AT_ONCE, repeatStep } from '../../steps.ts';
import { completeWithin, type WorkRef } from '../work/complete.ts';

/** `ended` are ids of predictions. The caller must wake the processes that wait for them or run them. */
export interface RevokeResult {
  ended: string[];
}

/**
 * Revokes the connection of an app's user, and ends the predictions under its grant: up to `ROWS_AT_ONCE` in the same
 * transaction, the rest later by `endRevokedWork`. Throws `not_found` if the app has no such connection,
 * `access_denied` if the connection belongs to another user.
 */
export function revokeConnection(
  em: EntityManager,
  { id, appId, userId }: { id: string; appId: string; userId: string },
  windowS: number,
): Promise<RevokeResult> {
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

/** Works like `revokeConnection`. Throws `not_found` if the account has no such connection. */
export function revokeOwnConnection(
  em: EntityManager,
  { id, accountId }: { id: string; accountId: string },
  windowS: number,
): Promise<RevokeResult> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<object[]>(
      `select id from connections where id = ? and account_id = ? for update`,
      [id, accountId],
    );
    if (found === undefined) throw new AppError('not_found');
    return { ended: await revoke(tx, [id], windowS) };
  });
}

/** Works like `revokeConnection`, for any connection. Throws `not_found`. */
export function revokeAnyConnection(em: EntityManager, id: string, windowS: number): Promise<RevokeResult> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<object[]>('select from connections where id = ? for update', [id]);
    if (found === undefined) throw new AppError('not_found');
    return { ended: await revoke(tx, [id], windowS) };
  });
}

/**
 * Revokes an account's connections, and denies its approved attempts that have not been exchanged yet. Returns the ids
 * of the predictions that it ended.
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

/**
 * Ends the predictions under connections whose rows the caller has locked, and returns their ids. If some predictions
 * are left, records the connections for `endRevokedWork`.
 */
export async function endPredictionsOf(
  tx: EntityManager,
  connectionIds: string[],
  windowS: number,
): Promise<string[]> {
  const idsJson = JSON.stringify(connectionIds);
  const allGrants = `select value::uuid as connection_id, timestamptz 'infinity' as ended_at from json_array_elements_text(?::json)`;
  const { found, ended } = await endWorkUnder(tx, allGrants, [idsJson], windowS);
  if (found >= ROWS_AT_ONCE || ended.length < found)
    await tx.execute(
      `insert into ending_connections (connection_id, ended_at)
       select value::uuid, clock_timestamp() from json_array_elements_text(?::json)
       on conflict (connection_id) do update set ended_at = excluded.ended_at`,
      [idsJson],
    );
  return ended;
}

/**
 * Ends the predictions that were left after revocations. Takes the connections in random order, because the rows of one
 * may be locked for long. Any number of processes may call it.
 */
export function endRevokedWork(
  em: EntityManager,
  { windowS, announceEnded }: { windowS: number; announceEnded(ids: readonly string[]): void },
): AsyncGenerator<void> {
  const step = async (tx: EntityManager) => {
    const [next] = await tx.execute<{ id: string; ended_at: string }[]>(
      `select connection_id as id, ended_at::text from ending_connections order by random() limit 1`,
    );
    if (next === undefined) return undefined;
    const oneGrant = 'select ?::uuid as connection_id, ?::timestamptz as ended_at';
    const { found, ended: ids } = await endWorkUnder(tx, oneGrant, [next.id, next.ended_at], windowS);
    if (found < ROWS_AT_ONCE && ids.length === found)
      await tx.execute(
        `delete from ending_connections where connection_id = ? and ended_at = ?::timestamptz`,
        [next.id, next.ended_at],
      );
    return ids;
  };
  return repeatStep(async () => {
    const ids = await transaction(em, step);
    announceEnded(ids ?? []);
    return ids === undefined ? 0 : 1;
  }, 1);
}

/**
 * Ends up to `ROWS_AT_ONCE` predictions that were admitted under ended grants. `grants` is a query of `connection_id`
 * and `ended_at`. Ends only the attempts that it has read, because a request that has ended may run again under a new
 * grant.
 */
export async function endWorkUnder(
  tx: EntityManager,
  grants: string,
  values: string[],
  windowS: number,
): Promise<{ found: number; ended: string[] }> {
  const live = await tx.execute<(WorkRef & { attempt: number })[]>(
    `select w.id, w.party, w.month, w.attempt from (${grants}) g
      cross join lateral (
        select l.* from work l where l.connection_id = g.connection_id and l.admitted_at <= g.ended_at
         limit ${ROWS_AT_ONCE}) w
      limit ${ROWS_AT_ONCE}`,
    values,
  );
  const revocation = { guard: 'live', state: 'failed', code: 'connection_revoked' } as const;
  const endedIds = await completeWithin(
    tx,
    live.map((one) => ({ ...one, ...revocation })),
    windowS,
  );
  return { found: live.length, ended: endedIds };
}
