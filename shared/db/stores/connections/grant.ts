import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { newId } from '../../../ids.ts';
import { CONNECTIONS_MAX } from '../../../schemas/limits.ts';
import { endPredictionsOf } from './revoke.ts';

export interface Grant {
  connectionId: string;
  grantRevision: number;
  profileRevision: string;
  /** Predictions that ran under another account's grant, now ended. */
  ended: string[];
}

/**
 * Connects an app's user to an account, within the caller's transaction: a new connection, or another grant of the
 * user's existing one. Predictions under the same account's grant continue; those under another account's end. Throws
 * `access_denied` when the account has as many connections as it may, and this is not one of them.
 */
export async function makeGrant(
  tx: EntityManager,
  { appId, userId, accountId }: { appId: string; userId: string; accountId: string },
  windowS: number,
): Promise<Grant> {
  // A row to lock, so that two concurrent first grants of a user are serialized.
  await tx.execute(
    `insert into connections (id, app_id, user_id, status, grant_revision, created_at, granted_at)
     values (?, ?, ?, 'revoked', 0, now(), now()) on conflict do nothing`,
    [newId(), appId, userId],
  );
  const [before] = await tx.execute<{ id: string; account_id: string | null }[]>(
    `select id, account_id from connections where app_id = ? and user_id = ? for update`,
    [appId, userId],
  );
  if (before === undefined) throw new Error('a locked connection disappeared');
  if (before.account_id !== accountId && (await countConnections(tx, accountId)) >= CONNECTIONS_MAX)
    throw new AppError('access_denied');
  const [granted] = await tx.execute<{ grantRevision: number; profileRevision: string }[]>(
    `update connections c
        set account_id = a.id, status = 'connected', grant_revision = c.grant_revision + 1, granted_at = now(),
            revoked_at = null
       from accounts a where a.id = ? and c.id = ?
     returning c.grant_revision as "grantRevision", profile_revision(a.id, a.memory_revision) as "profileRevision"`,
    [accountId, before.id],
  );
  if (granted === undefined) throw new Error('an attempt outlived its account');
  const ended = before.account_id === accountId ? [] : await endPredictionsOf(tx, [before.id], windowS);
  return { connectionId: before.id, ...granted, ended };
}

/** Revoked ones count as well: the account lists them. */
async function countConnections(tx: EntityManager, accountId: string): Promise<number> {
  const [counted] = await tx.execute<{ connections: number }[]>(
    `select count(*)::int as connections from (select from connections where account_id = ? limit ?) c`,
    [accountId, CONNECTIONS_MAX],
  );
  return counted?.connections ?? 0;
}
