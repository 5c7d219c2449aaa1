import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../../ids.ts';
import { endPredictionsOf } from './revoke.ts';

export interface Grant {
  connectionId: string;
  grantRevision: number;
  profileRevision: string;
  /** Predictions that ran under another account's grant and were ended. */
  ended: string[];
}

/**
 * Connects an app's user to an account, within the caller's transaction: a new connection, or the user's own with
 * one more grant. What runs under the same account's grant goes on; under another's it ends.
 */
export async function makeGrant(
  tx: EntityManager,
  { appId, userId, accountId }: { appId: string; userId: string; accountId: string },
  windowS: number,
): Promise<Grant> {
  // A row to lock, so that two first grants of a user come one after the other.
  await tx.execute(
    `insert into connections (id, app_id, user_id, status, grant_revision, created_at, granted_at)
     values (?, ?, ?, 'revoked', 0, now(), now()) on conflict do nothing`,
    [newId(), appId, userId],
  );
  const [before] = await tx.execute<{ id: string; account_id: string | null }[]>(
    `select id, account_id from connections where app_id = ? and user_id = ? for update`,
    [appId, userId],
  );
  if (before === undefined) throw new Error('a connection went away under its lock');
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
