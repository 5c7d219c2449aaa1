import { timingSafeEqual } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ErrorCode } from '../../../errors/catalogue.ts';
import type { ConnectionExchangeRequest, ConnectionExchangeResponse } from '../../../schemas/connections.ts';
import { MISMATCHES_MAX } from '../../../schemas/limits.ts';
import { challengeOf } from '../../../security/fingerprint.ts';
import { hashKey } from '../../../security/keys.ts';
import { transaction } from '../../transaction.ts';
import { makeGrant } from './grant.ts';

/** The answer's bytes, the same for every repetition, and the predictions that the exchange ended; or why not. */
export type Exchanged =
  | { answer: string; ended: string[] }
  | {
      refusal: Extract<
        ErrorCode,
        | 'not_found'
        | 'connection_attempt_expired'
        | 'authorization_pending'
        | 'access_denied'
        | 'invalid_grant'
        | 'connection_revoked'
      >;
    };

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
 * Exchanges a code for a grant (RFC 6749, 4.1.3; RFC 7636, 4.6), once. Promise: whoever repeats it, at the same time or
 * later, gets the same bytes, and there is one grant.
 */
export function exchange(
  em: EntityManager,
  appId: string,
  request: ConnectionExchangeRequest,
  windowS: number,
): Promise<Exchanged> {
  return transaction(em, async (tx) => {
    const attempt = await lockAttempt(tx, appId, request.request_id);
    if (attempt === undefined) return { refusal: 'not_found' };
    if (isOver(attempt)) return { refusal: 'connection_attempt_expired' };
    if (attempt.status === 'pending') return { refusal: 'authorization_pending' };
    if (attempt.status === 'denied') return { refusal: 'access_denied' };
    if (attempt.status === 'burned') return { refusal: 'invalid_grant' };
    if (!matches(attempt, request)) {
      await countMismatch(tx, attempt.id);
      return { refusal: 'invalid_grant' };
    }
    if (attempt.answer === null) return firstExchange(tx, attempt, windowS);
    return (await isGranted(tx, attempt.id))
      ? { answer: attempt.answer, ended: [] }
      : { refusal: 'connection_revoked' };
  });
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
 * Whether the grant that the exchange made is still the connection's. Not to be joined to the attempt: who has waited for
 * its lock sees the attempt as it is then, but what is joined as it was before.
 */
async function isGranted(tx: EntityManager, id: string): Promise<boolean> {
  const granted = await tx.execute<object[]>(
    `select from connection_attempts t join connections c on c.id = t.connection_id
      where t.id = ? and c.status = 'connected' and c.grant_revision = t.grant_revision`,
    [id],
  );
  return granted.length > 0;
}

/** A decision has the attempt's time, a code its own; an answer that was lost may be asked for until both are over. */
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

/** Whoever guesses gets few tries. */
async function countMismatch(tx: EntityManager, id: string): Promise<void> {
  await tx.execute(
    `update connection_attempts
        set mismatches = mismatches + 1, status = case when mismatches + 1 >= ? then 'burned' else status end
      where id = ?`,
    [MISMATCHES_MAX, id],
  );
}

async function firstExchange(tx: EntityManager, attempt: AttemptRow, windowS: number): Promise<Exchanged> {
  const { app_id: appId, user_id: userId, account_id: accountId } = attempt;
  if (accountId === null) throw new Error('an approved attempt has an account');
  // Disabled or erased since: as if it had not approved.
  if (!(await holdAccount(tx, accountId))) return { refusal: 'access_denied' };
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

/** Whether the account is active, and stays there until the caller's transaction is over. */
async function holdAccount(tx: EntityManager, id: string): Promise<boolean> {
  const held = await tx.execute<object[]>(`select from accounts where id = ? and active for key share`, [id]);
  return held.length > 0;
}
