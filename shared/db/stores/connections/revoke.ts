import { type EntityManager, type Loaded, LockMode, raw } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { idsOf } from '../../../ids.ts';
import { Connection, ConnectionAttempt, EndingConnection } from '../../entities/connection.ts';
import { transaction } from '../../statement.ts';
import { ROWS_AT_ONCE, repeatStep } from '../../steps.ts';
import { announce } from '../webhooks/announce.ts';
import { completeWithin, type WorkRef } from '../work/complete.ts';

/** `ended` are ids of predictions. The caller must wake the processes that wait for them or run them. */
export interface RevokeResult {
  ended: string[];
  accountId: string | undefined;
}

/** Selects a connection: of an app and its user, of an account, or any. */
export interface RevokedConnection {
  id: string;
  app?: string;
  userId?: string;
  account?: string;
}

/**
 * Revokes a connection, and ends the predictions under its grant: up to `ROWS_AT_ONCE` in the same transaction, the rest
 * later by `endRevokedWork`. Throws `not_found` if the app or account has no such connection, `access_denied` if the
 * connection belongs to another user.
 */
export function revokeConnection(
  em: EntityManager,
  { userId, ...where }: RevokedConnection,
  windowS: number,
): Promise<RevokeResult> {
  return transaction(em, async (tx) => {
    const found = await tx.findOneOrFail(Connection, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (userId !== undefined && found.userId !== userId) throw new AppError('access_denied');
    return { ended: await revoke(tx, [found.id], windowS), accountId: found.account?.id };
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
  await tx.nativeUpdate(ConnectionAttempt, { account: accountId, status: 'approved' }, { status: 'denied' });
  const connections = await tx.execute<{ id: string }[]>(
    `select id from connections where account_id = ? order by id for update`,
    [accountId],
  );
  return revoke(tx, idsOf(connections), windowS);
}

async function revoke(tx: EntityManager, connectionIds: string[], windowS: number): Promise<string[]> {
  const connected = { id: { $in: connectionIds }, status: 'connected' } as const;
  await announceRevoked(tx, await tx.find(Connection, connected, { fields: ['app', 'account'] }));
  await tx.nativeUpdate(Connection, connected, { status: 'revoked', revokedAt: raw('now()') });
  return endPredictionsOf(tx, connectionIds, windowS);
}

/** The webhooks of each connection's account and app hear that it was revoked. */
export function announceRevoked(
  tx: EntityManager,
  connections: readonly Loaded<Connection, never, 'app' | 'account'>[],
): Promise<void> {
  return announce(
    tx,
    connections.map(({ id, app, account }) => ({
      account: account?.id ?? null,
      app: app.id,
      event: 'connection.revoked',
      data: { connection_id: id, app_id: app.id },
    })),
  );
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
  const allGrants = `select connection_id, timestamptz 'infinity' as ended_at from unnest(array[?]::uuid[]) connection_id`;
  const { found, ended } = await endWorkUnder(tx, allGrants, [connectionIds], windowS);
  if (found >= ROWS_AT_ONCE || ended.length < found)
    await tx
      .createQueryBuilder(EndingConnection)
      .insert(connectionIds.map((connectionId) => ({ connectionId, endedAt: raw('clock_timestamp()') })))
      .onConflict('connectionId')
      .merge()
      .execute('run');
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
    const [next] = await tx.find(EndingConnection, {}, { orderBy: { [raw('random()')]: 'asc' }, limit: 1 });
    if (next === undefined) return undefined;
    const { connectionId, endedAt } = next;
    const oneGrant = 'select ?::uuid as connection_id, ?::timestamptz as ended_at';
    const { found, ended: ids } = await endWorkUnder(tx, oneGrant, [connectionId, endedAt], windowS);
    if (found < ROWS_AT_ONCE && ids.length === found)
      await tx.nativeDelete(EndingConnection, { connectionId, endedAt });
    return ids;
  };
  return repeatStep(async () => {
    const ids = await transaction(em, step);
    announceEnded(ids ?? []);
    return ids === undefined ? 0 : 1;
  }, 1);
}

/** Revokes the connections whose end has come. Any number of processes may call it. */
export function revokeEnded(
  em: EntityManager,
  { windowS, announceEnded }: { windowS: number; announceEnded(ids: readonly string[]): void },
): AsyncGenerator<void> {
  const due = { status: 'connected', endsAt: { $lte: raw('now()') } } as const;
  const options = { limit: ROWS_AT_ONCE, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const;
  return repeatStep(async () => {
    const { found, ended } = await transaction(em, async (tx) => {
      const connections = await tx.find(Connection, due, options);
      const ids = idsOf(connections);
      return { found: ids.length, ended: ids.length === 0 ? [] : await revoke(tx, ids, windowS) };
    });
    announceEnded(ended);
    return found;
  });
}

/**
 * Ends predictions that were admitted under ended grants, at most `ROWS_AT_ONCE` in a call. `grants` is a query of
 * `connection_id` and `ended_at`. Ends only the attempts that it has read: a request that has ended may run again under
 * a new grant.
 */
export async function endWorkUnder(
  tx: EntityManager,
  grants: string,
  values: unknown[],
  windowS: number,
): Promise<{ found: number; ended: string[] }> {
  const live = await tx.execute<(WorkRef & { attempt: number })[]>(
    `select w.id, w.kind, w.party, w.month, w.attempt from (${grants}) g
      cross join lateral (
        select l.* from work l where l.connection_id = g.connection_id and l.admitted_at <= g.ended_at
         limit ${ROWS_AT_ONCE}) w
      limit ${ROWS_AT_ONCE}`,
    values,
  );
  const revocation = { guard: 'live', state: 'failed', code: 'connection_revoked' } as const;
  const batch = live.map((one) => ({ ...one, ...revocation }));
  return { found: live.length, ended: await completeWithin(tx, batch, windowS) };
}
