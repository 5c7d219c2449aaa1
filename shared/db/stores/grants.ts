import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { UserPrincipal } from '../../domain/account.ts';
import { checkEach } from '../../domain/faults.ts';
import { AppError } from '../../errors/app-error.ts';
import { idsOf, newId } from '../../ids.ts';
import type { Scope } from '../../schemas/accounts.ts';
import { CODE_TTL_S, GRANTS_MAX } from '../../schemas/limits.ts';
import { challengeOf } from '../../security/fingerprint.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { Grant, GrantCode } from '../entities/grant.ts';
import { query, transaction } from '../statement.ts';
import { lockActiveAccount } from './lock-account.ts';

const ACCOUNTS_BY_GRANT = {
  name: 'accounts_by_grant_v1',
  text: `select g.id as "keyId", a.id, g.scopes, coalesce(a.threshold_floor, 0) as "thresholdFloor"
           from grants g join accounts a on a.id = g.account_id
          where g.id = any ($1::uuid[]) and a.active`,
};

export interface GrantPrincipal extends UserPrincipal {
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

/** Finds active accounts by the ids of their grants, in the same order; undefined for an unknown or revoked grant. */
export async function findAccountsByGrant(
  pool: Pool,
  ids: string[],
): Promise<(GrantPrincipal | undefined)[]> {
  const rows = await query<GrantPrincipal>(pool, ACCOUNTS_BY_GRANT, [ids]);
  const byId = new Map(rows.map((row) => [row.keyId, row]));
  return ids.map((id) => byId.get(id));
}

/** The latest use first. */
export function listGrants(em: EntityManager, accountId: string): Promise<Grant[]> {
  return em.find(Grant, { account: accountId }, { orderBy: { lastUsedAt: 'desc' }, limit: GRANTS_MAX });
}

/** Leaves a program fewer scopes. Throws `not_found`, or a `ValidationError` for a scope that it does not have. */
export function narrowGrant(
  em: EntityManager,
  accountId: string,
  id: string,
  scopes: readonly Scope[],
): Promise<Grant> {
  return transaction(em, async (tx) => {
    const grant = await tx.findOneOrFail(Grant, { id, account: accountId }, LOCKED);
    const isAllowed = (scope: Scope) => grant.scopes.includes(scope);
    checkEach('scopes', scopes, (scope) => (isAllowed(scope) ? undefined : 'a scope that was allowed'));
    return tx.assign(grant, { scopes: grant.scopes.filter((scope) => scopes.includes(scope)) });
  });
}

/** Throws `not_found` if the account has no such grant. */
export async function revokeGrant(em: EntityManager, accountId: string, id: string): Promise<void> {
  if ((await em.nativeDelete(Grant, { id, account: accountId })) === 0) throw new AppError('not_found');
}

/** Ends a grant of which the caller has a token. */
export async function endGrant(em: EntityManager, id: string, clientId: string): Promise<void> {
  await em.nativeDelete(Grant, { id, clientId });
}

export interface AllowedRequest {
  clientId: string;
  clientName: string;
  redirectUri: string;
  codeChallenge: string;
  resource: string;
  /** Those that the person has left. */
  scopes: readonly Scope[];
}

/** Returns the code for the program to exchange; undefined if the account is gone or disabled. */
export async function allowProgram(
  em: EntityManager,
  accountId: string,
  { scopes, ...allowed }: AllowedRequest,
): Promise<string | undefined> {
  const { token, hash } = newToken();
  return transaction(em, async (tx) => {
    if ((await lockActiveAccount(tx, accountId, 'share')) === undefined) return undefined;
    const expiresAt = raw('now() + make_interval(secs => ?)', [CODE_TTL_S]);
    await tx.insert(GrantCode, { hash, account: accountId, ...allowed, scopes: [...scopes], expiresAt });
    return token;
  });
}

interface Exchange {
  code: string;
  codeVerifier: string;
  clientId: string;
  /** Undefined if the program does not repeat it at its exchange. */
  redirectUri: string | undefined;
  resource: string | undefined;
}

/**
 * Exchanges a code for a grant. Undefined if the code is unknown, has expired or belongs to another request. A code that
 * comes a second time revokes the grant of the first: one of the two who sent it has stolen it.
 */
export function exchangeCode(em: EntityManager, exchange: Exchange): Promise<Grant | undefined> {
  return transaction(em, async (tx) => {
    const code = await tx.findOne(GrantCode, { hash: hashKey(exchange.code) }, LOCKED);
    if (code === null) return undefined;
    if (code.grantId != null) {
      await tx.nativeDelete(Grant, { id: code.grantId });
      return undefined;
    }
    const [clock] = await tx.execute<{ over: boolean }[]>('select now() >= ?::timestamptz as over', [
      code.expiresAt,
    ]);
    if (clock?.over || !belongsTo(code, exchange)) {
      await tx.nativeDelete(GrantCode, { hash: code.hash });
      return undefined;
    }
    const accountId = code.account.id;
    if ((await lockActiveAccount(tx, accountId, 'share')) === undefined) return undefined;
    const { clientId, clientName, scopes, resource } = code;
    const now = new Date();
    const grant = { id: newId(), account: accountId, clientId, clientName, scopes, resource };
    await tx.insert(Grant, { ...grant, createdAt: now, lastUsedAt: now });
    await tx.nativeUpdate(GrantCode, { hash: code.hash }, { grantId: grant.id });
    await deleteOldestGrants(tx, accountId);
    return tx.findOneOrFail(Grant, { id: grant.id });
  });
}

const LOCKED = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;

function belongsTo(code: GrantCode, exchange: Exchange): boolean {
  return (
    challengeOf(exchange.codeVerifier) === code.codeChallenge &&
    exchange.clientId === code.clientId &&
    (exchange.redirectUri ?? code.redirectUri) === code.redirectUri &&
    (exchange.resource ?? code.resource) === code.resource
  );
}

/** Programs that register anew at each log-in leave grants behind, which nobody uses any more. */
async function deleteOldestGrants(tx: EntityManager, accountId: string): Promise<void> {
  const oldest = { orderBy: { lastUsedAt: 'desc', id: 'desc' }, offset: GRANTS_MAX, fields: ['id'] } as const;
  const grants = await tx.find(Grant, { account: accountId }, oldest);
  await tx.nativeDelete(Grant, { id: { $in: idsOf(grants) } });
}

/** Within this time the token before the valid one gets the valid one again, in case that the answer was lost. */
const REPEAT_S = 30;

/** What a refresh token names: its grant, and its number. */
export interface RefreshClaim {
  grantId: string;
  number: number;
}

/**
 * Renews a grant, whose `refreshes` is then the number of the one valid refresh token. Undefined if the grant has ended,
 * belongs to another client, or the token was used before: then two have it, and the grant is revoked (RFC 9700,
 * 4.14.2). What `check` throws uses up no token.
 */
export function renewGrant(
  em: EntityManager,
  { grantId, number }: RefreshClaim,
  clientId: string,
  check: (grant: Grant) => void,
): Promise<Grant | undefined> {
  return transaction(em, async (tx) => {
    const found = await tx.findOne(Grant, { id: grantId, clientId, account: { active: true } }, LOCKED);
    if (found === null) return undefined;
    // A restored backup may be behind the token.
    if (number >= found.refreshes) {
      check(found);
      await tx.nativeUpdate(Grant, { id: grantId }, { refreshes: number + 1, lastUsedAt: raw('now()') });
      return tx.refreshOrFail(found);
    }
    if (number === found.refreshes - 1 && (await wasJustRenewed(tx, grantId))) {
      check(found);
      return found;
    }
    await tx.nativeDelete(Grant, { id: grantId });
    return undefined;
  });
}

/** A renewal that is later than now is none of a moment ago: the clock was set back since. */
async function wasJustRenewed(tx: EntityManager, id: string): Promise<boolean> {
  const [since, until] = [-REPEAT_S, REPEAT_S].map((secs) => raw('now() + make_interval(secs => ?)', [secs]));
  return (await tx.count(Grant, { id, lastUsedAt: { $gt: since, $lt: until } })) > 0;
}
