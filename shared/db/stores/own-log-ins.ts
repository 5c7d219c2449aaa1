import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Device, Login } from '../../domain/account.ts';
import { requireCurrentLogin } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { idsOf, newId } from '../../ids.ts';
import { type Account, EndedLogIn, RefreshToken, WebSession } from '../entities/account.ts';
import { transaction } from '../statement.ts';
import { lockActiveAccount } from './lock-account.ts';
import { issueToken, isValid, TOKENS_MAX } from './log-ins.ts';

/** Issues a refresh token as `issueToken` does. Its id is in the access tokens, so that they can end with it. */
export async function beginLogIn(
  em: EntityManager,
  account: Pick<Account, 'id' | 'passwordHash'>,
  { client, system }: Device,
): Promise<{ token: string; login: Login } | undefined> {
  const id = newId();
  const issued = await issueToken(em, 'refresh_tokens', account, { more: { id, client, system } });
  if (issued === undefined) return undefined;
  const { token, generation } = issued;
  return { token, login: { id, generation, loggedInAt: Date.now() / 1000 } };
}

/** Finds the log-in of a refresh token and its account, and notes its use. Undefined as from `ownerOfToken`. */
export async function renewLogIn(
  em: EntityManager,
  token: string,
): Promise<{ login: Login; account: Account } | undefined> {
  const found = await em.findOne(RefreshToken, isValid(token), { populate: ['account'] });
  if (found === null) return undefined;
  const aMinuteAgo = raw(`now() - interval '1 minute'`);
  await em.nativeUpdate(
    RefreshToken,
    { hash: found.hash, lastUsedAt: { $lt: aMinuteAgo } },
    { lastUsedAt: raw('now()') },
  );
  const { id, account, createdAt } = found;
  const login = { id, generation: account.loginGeneration, loggedInAt: createdAt.getTime() / 1000 };
  return { login, account };
}

/** The latest used first. */
export function listLogIns(em: EntityManager, accountId: string): Promise<RefreshToken[]> {
  const valid = { account: accountId, expiresAt: { $gt: raw('now()') } };
  return em.find(RefreshToken, valid, { orderBy: { lastUsedAt: 'desc', id: 'desc' }, limit: TOKENS_MAX });
}

/** Ends a log-in of the account with its access tokens. Throws `not_found`, and `token_expired` as `lockLogIns` does. */
export function endLogIn(em: EntityManager, accountId: string, caller: Login, id: string): Promise<void> {
  return transaction(em, async (tx) => {
    await lockLogIns(tx, accountId, caller);
    if ((await tx.count(RefreshToken, { id, account: accountId })) === 0) throw new AppError('not_found');
    await end(tx, accountId, [id]);
  });
}

/** Ends all log-ins of the account but the caller's, with their access tokens, and signs browsers out of our pages. */
export function endOtherLogIns(em: EntityManager, accountId: string, caller: Login): Promise<void> {
  return transaction(em, async (tx) => {
    await lockLogIns(tx, accountId, caller);
    const others = await tx.find(RefreshToken, { account: accountId, id: { $ne: caller.id } });
    await end(tx, accountId, idsOf(others));
    await tx.nativeDelete(WebSession, { account: accountId });
  });
}

/**
 * Locks the account, whose new log-ins and keys then wait. Throws `not_authenticated` if the account is disabled or gone,
 * and `token_expired` if the caller's log-in has ended, which a cached look-up need not know.
 */
export async function lockLogIns(tx: EntityManager, accountId: string, caller: Login): Promise<void> {
  const generation = await lockActiveAccount(tx, accountId, 'no key update');
  if (generation === undefined) throw new AppError('not_authenticated');
  await requireOpenLogIn(tx, caller, generation);
}

/** Throws `token_expired` if the log-in has ended: alone, or with all those of an earlier generation. */
export async function requireOpenLogIn(tx: EntityManager, login: Login, generation: number): Promise<void> {
  requireCurrentLogin(login, generation);
  if ((await tx.count(EndedLogIn, { id: login.id })) > 0) throw new AppError('token_expired');
}

async function end(tx: EntityManager, account: string, ids: readonly string[]): Promise<void> {
  await tx.nativeDelete(RefreshToken, { id: { $in: [...ids] } });
  const ended = ids.map((id) => ({ id, account, endedAt: new Date() }));
  await tx.insertMany(EndedLogIn, ended);
}
