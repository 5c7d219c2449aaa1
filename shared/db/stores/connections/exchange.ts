import { timingSafeEqual } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { newId } from '../../../ids.ts';
import type { ConnectionExchangeRequest, ConnectionExchangeResponse } from '../../../schemas/connections.ts';
import { CONNECTIONS_MAX, EXCHANGE_MISMATCHES_MAX } from '../../../schemas/limits.ts';
import { challengeOf } from '../../../security/fingerprint.ts';
import { hashKey } from '../../../security/keys.ts';
import { transaction } from '../../statement.ts';
import { endPredictionsOf } from './revoke.ts';

export interface ExchangeResult {
  /** Body of the response. All repetitions get the same bytes. */
  answer: string;
  /** Ids of the predictions that the exchange ended. */
  ended: string[];
}

interface AttemptRow {
  id: string;
  app_id: string;
  user_id: string;
  redirect_uri: string;
  code_challenge: string;
  status: 'pending' | 'approved' | 'denied' | 'exchanged' | 'burned';
  account_id: string | null;
  code_hash: Buffer | null;
  answer: string | null;
  attempt_over: boolean;
  /** Null before the approval. */
  code_over: boolean | null;
}

/**
 * Exchanges a code for a grant (RFC 6749, 4.1.3; RFC 7636, 4.6). However often an exchange is repeated, there is one
 * grant, and every successful answer has the same bytes. Throws `not_found`, `connection_attempt_expired`,
 * `authorization_pending`, `access_denied`, `invalid_grant` or `connection_revoked`.
 */
export async function exchange(
  em: EntityManager,
  appId: string,
  request: ConnectionExchangeRequest,
  windowS: number,
): Promise<ExchangeResult> {
  const result = await transaction(em, async (tx) => {
    const attempt = await lockAttempt(tx, appId, request.request_id);
    if (attempt === undefined) throw new AppError('not_found');
    if (isOver(attempt)) throw new AppError('connection_attempt_expired');
    if (attempt.status === 'pending') throw new AppError('authorization_pending');
    if (attempt.status === 'denied') throw new AppError('access_denied');
    if (attempt.status === 'burned') throw new AppError('invalid_grant');
    if (!matches(attempt, request)) return countMismatch(tx, attempt.id);
    if (attempt.answer === null) return firstExchange(tx, attempt, windowS);
    if (!(await isGranted(tx, attempt.id))) throw new AppError('connection_revoked');
    return { answer: attempt.answer, ended: [] };
  });
  // Throws outside the transaction, so that the count of mismatches is committed.
  if (result === undefined) throw new AppError('invalid_grant');
  return result;
}

async function lockAttempt(tx: EntityManager, appId: string, id: string): Promise<AttemptRow | undefined> {
  const [attempt] = await tx.execute<AttemptRow[]>(
    `select t.*, t.expires_at <= now() as attempt_over, t.code_expires_at <= now() as code_over
       from connection_attempts t where t.id = ? and t.app_id = ? for update`,
    [id, appId],
  );
  return attempt;
}

/**
 * Checks whether the connection still has the grant that the exchange made. A join in `lockAttempt` could be stale:
 * after a wait for the row lock, PostgreSQL re-reads the locked row, but not the rows joined to it.
 */
async function isGranted(tx: EntityManager, id: string): Promise<boolean> {
  const grants = await tx.execute<object[]>(
    `select from connection_attempts t join connections c on c.id = t.connection_id
      where t.id = ? and c.status = 'connected' and c.grant_revision = t.grant_revision`,
    [id],
  );
  return grants.length > 0;
}

/**
 * Reports whether an exchange comes too late. An approved attempt can be exchanged until its code expires. After the
 * first exchange, it can be repeated until both the code and the attempt have expired.
 */
function isOver({ status, attempt_over, code_over }: AttemptRow): boolean {
  switch (status) {
    case 'pending':
    case 'denied':
      return attempt_over;
    case 'approved':
      return code_over === true;
    case 'exchanged':
    case 'burned':
      return attempt_over && code_over === true;
  }
}

function matches(attempt: AttemptRow, request: ConnectionExchangeRequest): boolean {
  const isCode = timingSafeEqual(hashKey(request.code), attempt.code_hash ?? Buffer.alloc(32));
  return (
    isCode &&
    challengeOf(request.code_verifier) === attempt.code_challenge &&
    request.user_id === attempt.user_id &&
    request.redirect_uri === attempt.redirect_uri
  );
}

/** Limits guessing: too many mismatches burn the attempt. */
async function countMismatch(tx: EntityManager, id: string): Promise<undefined> {
  await tx.execute(
    `update connection_attempts
        set mismatches = mismatches + 1, status = case when mismatches + 1 >= ? then 'burned' else status end
      where id = ?`,
    [EXCHANGE_MISMATCHES_MAX, id],
  );
}

async function firstExchange(
  tx: EntityManager,
  attempt: AttemptRow,
  windowS: number,
): Promise<ExchangeResult> {
  const { app_id: appId, user_id: userId, account_id: accountId } = attempt;
  if (accountId === null) throw new Error('an approved attempt has an account');
  // An account that was disabled or erased since its approval counts as not having approved.
  if (!(await lockActiveAccount(tx, accountId))) throw new AppError('access_denied');
  const grant = await makeGrant(tx, { appId, userId, accountId }, windowS);
  const answer: ConnectionExchangeResponse = {
    connection_id: grant.connectionId,
    profile_revision: grant.profileRevision,
    grant_revision: grant.grantRevision,
    status: 'connected',
  };
  const text = JSON.stringify(answer);
  await tx.execute(
    `update connection_attempts set status = 'exchanged', connection_id = ?, grant_revision = ?, answer = ? where id = ?`,
    [grant.connectionId, grant.grantRevision, text, attempt.id],
  );
  return { answer: text, ended: grant.ended };
}

/**
 * Takes a key-share lock on the row of an active account, so that the account is not erased before the transaction
 * ends. This lock does not wait for changes of the account's memory, which may take long. Disabling the account waits
 * for the attempt's lock instead.
 */
async function lockActiveAccount(tx: EntityManager, id: string): Promise<boolean> {
  const lockedAccounts = await tx.execute<object[]>(
    `select from accounts where id = ? and active for key share`,
    [id],
  );
  return lockedAccounts.length > 0;
}

interface Grant {
  connectionId: string;
  grantRevision: number;
  profileRevision: string;
  /** Ids of the predictions that ran under a grant of another account, and were ended. */
  ended: string[];
}

/**
 * Connects an app's user to an account, by a new connection or another grant of the existing one. Ends predictions
 * under a grant of another account. Throws `access_denied` if the account has `CONNECTIONS_MAX` other connections.
 */
async function makeGrant(
  tx: EntityManager,
  { appId, userId, accountId }: { appId: string; userId: string; accountId: string },
  windowS: number,
): Promise<Grant> {
  // Creates a row to lock, so that two concurrent first grants of a user are serialized.
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
  await recordLostGrants(tx, before.id, accountId);
  const [granted] = await tx.execute<{ grantRevision: number; profileRevision: string }[]>(
    `update connections c
        set account_id = a.id, status = 'connected', grant_revision = c.grant_revision + 1, granted_at = now(),
            revoked_at = null,
            account_grant = case when c.account_id = a.id then c.account_grant else c.grant_revision + 1 end
       from accounts a where a.id = ? and c.id = ?
     returning c.grant_revision as "grantRevision", profile_revision(a.id, a.memory_revision) as "profileRevision"`,
    [accountId, before.id],
  );
  if (granted === undefined) throw new Error('an attempt outlived its account');
  const endedIds = before.account_id === accountId ? [] : await endPredictionsOf(tx, [before.id], windowS);
  return { connectionId: before.id, ...granted, ended: endedIds };
}

/**
 * Records the past grants of a connection before another account takes the connection over. A later erasure of the
 * former account needs them, and the connection itself no longer shows whose they were.
 */
async function recordLostGrants(tx: EntityManager, id: string, newAccountId: string): Promise<void> {
  await tx.execute(
    `insert into erasing_grants (account_id, connection_id, grant_revision, ended_at)
     select c.account_id, c.id, lost, clock_timestamp()
       from connections c cross join generate_series(greatest(c.account_grant, 1), c.grant_revision) lost
      where c.id = ? and c.account_id <> ?`,
    [id, newAccountId],
  );
}

/** Counts up to `CONNECTIONS_MAX`. Revoked connections count, because the account lists those as well. */
async function countConnections(tx: EntityManager, accountId: string): Promise<number> {
  const [row] = await tx.execute<{ connections: number }[]>(
    `select count(*)::int as connections from (select from connections where account_id = ? limit ?) c`,
    [accountId, CONNECTIONS_MAX],
  );
  return row?.connections ?? 0;
}
