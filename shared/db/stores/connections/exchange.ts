import { timingSafeEqual } from 'node:crypto';
import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { newId } from '../../../ids.ts';
import type { ConnectionExchangeRequest, ConnectionExchangeResponse } from '../../../schemas/connections.ts';
import { CONNECTIONS_MAX, EXCHANGE_MISMATCHES_MAX } from '../../../schemas/limits.ts';
import { challengeOf } from '../../../security/fingerprint.ts';
import { hashKey } from '../../../security/keys.ts';
import { Connection, ConnectionAttempt } from '../../entities/connection.ts';
import { insertNew, oneRow } from '../../rows.ts';
import { transaction } from '../../statement.ts';
import { lockActiveAccount } from '../lock-account.ts';
import { inForce } from './change.ts';
import { endPredictionsOf } from './revoke.ts';

export interface ExchangeResult {
  /** Body of the response. All repetitions get the same bytes. */
  answer: string;
  /** Ids of the predictions that the exchange ended. */
  ended: string[];
  accountId: string | undefined;
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
    const attempt = await tx.findOneOrFail(ConnectionAttempt, { id: request.request_id, app: appId }, LOCKED);
    if (isOver(attempt, await readClock(tx))) throw new AppError('connection_attempt_expired');
    if (attempt.status === 'pending') throw new AppError('authorization_pending');
    if (attempt.status === 'denied') throw new AppError('access_denied');
    if (attempt.status === 'burned') throw new AppError('invalid_grant');
    if (!matches(attempt, request)) return countMismatch(tx, attempt.id);
    if (attempt.answer == null) return firstExchange(tx, attempt, windowS);
    if (!(await isGranted(tx, attempt))) throw new AppError('connection_revoked');
    return { answer: attempt.answer, ended: [], accountId: undefined };
  });
  // Throws outside the transaction, so that the count of mismatches is committed.
  if (result === undefined) throw new AppError('invalid_grant');
  return result;
}

const LOCKED = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;

async function readClock(tx: EntityManager): Promise<Date> {
  const statement = 'select (extract(epoch from now()) * 1000)::float8 as ms';
  return new Date((await oneRow(tx.execute<{ ms: number }[]>(statement))).ms);
}

/** Checks whether the connection still has the grant that the exchange made. */
async function isGranted(
  tx: EntityManager,
  { connection, grantRevision }: ConnectionAttempt,
): Promise<boolean> {
  const grant = { id: connection?.id ?? null, grantRevision: grantRevision ?? null, ...inForce() };
  return (await tx.count(Connection, grant)) > 0;
}

/**
 * Reports whether an exchange comes too late. An approved attempt can be exchanged until its code expires. After the
 * first exchange, it can be repeated until both the code and the attempt have expired.
 */
function isOver({ status, expiresAt, codeExpiresAt }: ConnectionAttempt, now: Date): boolean {
  const isCodeOver = codeExpiresAt != null && codeExpiresAt <= now;
  if (status === 'approved') return isCodeOver;
  return expiresAt <= now && (isCodeOver || status === 'pending' || status === 'denied');
}

function matches(attempt: ConnectionAttempt, request: ConnectionExchangeRequest): boolean {
  const isCode = timingSafeEqual(hashKey(request.code), attempt.codeHash ?? Buffer.alloc(32));
  return (
    isCode &&
    challengeOf(request.code_verifier) === attempt.codeChallenge &&
    request.user_id === attempt.userId &&
    request.redirect_uri === attempt.redirectUri
  );
}

/** Limits guessing: too many mismatches burn the attempt. */
async function countMismatch(tx: EntityManager, id: string): Promise<undefined> {
  const status = raw(`case when mismatches + 1 >= ? then 'burned' else status end`, [
    EXCHANGE_MISMATCHES_MAX,
  ]);
  await tx.nativeUpdate(ConnectionAttempt, { id }, { mismatches: raw('mismatches + 1'), status });
}

async function firstExchange(
  tx: EntityManager,
  attempt: ConnectionAttempt,
  windowS: number,
): Promise<ExchangeResult> {
  const { app, userId, account, memory, projects = null, endsAt = null } = attempt;
  if (account == null) throw new Error('an approved attempt has an account');
  // An account that was disabled or erased since its approval counts as not having approved. The lock does not wait for
  // changes of memory, which may take long; disabling the account waits for the attempt's lock instead.
  if ((await lockActiveAccount(tx, account.id, 'key share')) === undefined)
    throw new AppError('access_denied');
  const grant = await makeGrant(
    tx,
    { appId: app.id, userId, accountId: account.id, memory, projects, endsAt },
    windowS,
  );
  const answer: ConnectionExchangeResponse = {
    connection_id: grant.connectionId,
    profile_revision: grant.profileRevision,
    grant_revision: grant.grantRevision,
    status: 'connected',
  };
  const text = JSON.stringify(answer);
  const { connectionId: connection, grantRevision } = grant;
  const exchanged = { status: 'exchanged', connection, grantRevision, answer: text } as const;
  await tx.nativeUpdate(ConnectionAttempt, { id: attempt.id }, exchanged);
  return { answer: text, ended: grant.ended, accountId: account.id };
}

interface Granted extends Pick<Connection, 'memory' | 'projects' | 'endsAt'> {
  appId: string;
  userId: string;
  accountId: string;
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
  { appId, userId, accountId, memory, projects, endsAt }: Granted,
  windowS: number,
): Promise<Grant> {
  // Creates a row to lock, so that two concurrent first grants of a user are serialized.
  const times = { createdAt: raw('now()'), grantedAt: raw('now()') };
  const unconnected = { id: newId(), app: appId, userId, status: 'revoked', grantRevision: 0 } as const;
  await insertNew(tx, Connection, [{ ...unconnected, ...times }]);
  const before = await tx.findOneOrFail(Connection, { app: appId, userId }, LOCKED);
  const isSameAccount = before.account?.id === accountId;
  // Revoked connections count, because the account lists those as well.
  if (!isSameAccount && (await tx.count(Connection, { account: accountId })) >= CONNECTIONS_MAX)
    throw new AppError('access_denied');
  await recordLostGrants(tx, before.id, accountId);
  const [granted] = await tx.execute<{ grantRevision: number; profileRevision: string }[]>(
    `update connections c
        set account_id = a.id, status = 'connected', grant_revision = c.grant_revision + 1, granted_at = now(),
            revoked_at = null, memory = ?, projects = nullif(array[?]::text[], '{}'), ends_at = ?,
            account_grant = case when c.account_id = a.id then c.account_grant else c.grant_revision + 1 end
       from accounts a where a.id = ? and c.id = ?
     returning c.grant_revision as "grantRevision", profile_revision(a.id, a.memory_revision) as "profileRevision"`,
    [memory, projects ?? [], endsAt, accountId, before.id],
  );
  if (granted === undefined) throw new Error('an attempt outlived its account');
  const endedIds = isSameAccount ? [] : await endPredictionsOf(tx, [before.id], windowS);
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
