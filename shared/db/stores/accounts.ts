import { domainToUnicode } from 'node:url';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import { Account, PasswordReset, RefreshToken, WebSession } from '../entities/account.ts';
import { isUniqueViolation } from '../faults.ts';
import { query } from '../statement.ts';
import { transaction } from '../transaction.ts';
import { revokeServiceKeys } from './service-keys.ts';

const BY_ID = {
  name: 'accounts_by_id_v2',
  text: `select id, login_generation as generation from accounts where id = any ($1::uuid[]) and active`,
};

/** An active account, and which of its log-ins are current. */
export interface ActiveAccount {
  id: string;
  generation: number;
}

/** The active accounts with these ids, in the same order; undefined where there is none. */
export async function findUsers(pool: Pool, ids: string[]): Promise<(ActiveAccount | undefined)[]> {
  const rows = await query<ActiveAccount>(pool, BY_ID, [ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Characters that `domainToUnicode` takes for the rest of a URL, which it cuts off or decodes. */
const OF_A_URL = /[/?#\\%]/;

/** The form in which e-mail addresses are compared: full-width and Punycode domains become the same one (UTS #46). */
export function emailKey(email: string): string {
  const folded = email.normalize('NFC').trim().toLowerCase();
  const start = folded.lastIndexOf('@') + 1;
  const domain = folded.slice(start);
  const unified = OF_A_URL.test(domain) ? '' : domainToUnicode(domain);
  return folded.slice(0, start) + (unified || domain);
}

/** The account with this e-mail address, even when it is disabled. */
export async function findByEmail(em: EntityManager, email: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { emailKey: emailKey(email) })) ?? undefined;
}

/**
 * The password's hash of the account with this e-mail address, or `decoy` without one. One row of one text either way: to
 * make an entity takes half a millisecond, and a text takes longer than none, which would tell who has an account.
 */
export async function findPasswordHash(em: EntityManager, email: string, decoy: string): Promise<string> {
  const [row] = await em.execute<{ hash: string }[]>(
    'select coalesce((select password_hash from accounts where email_key = ?), ?) as hash',
    [emailKey(email), decoy],
  );
  return row?.hash ?? decoy;
}

/** The account with this id, even when it is disabled, unless it is being erased. */
export async function findById(em: EntityManager, id: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { id, erasingAt: null })) ?? undefined;
}

/** The account with this id, unless it is disabled. */
export async function findAccount(em: EntityManager, id: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { id, active: true })) ?? undefined;
}

/** All accounts except those being erased, oldest first. */
export async function listAccounts(em: EntityManager): Promise<Account[]> {
  return em.find(Account, { erasingAt: null }, { orderBy: { id: 'asc' } });
}

export interface NewAccount {
  email: string;
  name: string;
  passwordHash: string;
}

/** Creates an account. Throws `email_taken` when another one has the e-mail address. */
export async function createAccount(
  em: EntityManager,
  { email, name, passwordHash }: NewAccount,
): Promise<Account> {
  const now = new Date();
  const account = em.create(Account, {
    id: newId(),
    email: email.normalize('NFC').trim(),
    emailKey: emailKey(email),
    name,
    passwordHash,
    createdAt: now,
    updatedAt: now,
  });
  try {
    await em.flush();
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('email_taken', { cause: error });
    throw error;
  }
  return account;
}

interface AccountChanges {
  name?: string | undefined;
  /** Null for the default. */
  precisionTarget?: number | null | undefined;
  /** The new hash, `to`. With `from`, it replaces only that one. */
  passwordHash?: { from?: string; to: string } | undefined;
  revokeKeys?: boolean | undefined;
}

/**
 * Changes what is given: name, target, password. A new password ends every log-in, and with `revokeKeys` every key. Throws `access_denied` when `passwordHash.from` is no longer the account's, or the account is gone.
 */
export function changeAccount(
  em: EntityManager,
  id: string,
  { name, precisionTarget, passwordHash, revokeKeys = false }: AccountChanges,
): Promise<Account> {
  return transaction(em, async (tx) => {
    const [changed] = await tx.execute<object[]>(
      `update accounts
          set name = coalesce(?, name), password_hash = coalesce(?, password_hash), updated_at = now(),
              precision_target = case when ? then ?::float8 else precision_target end
        where id = ? and active and password_hash = coalesce(?, password_hash) returning id`,
      [
        name ?? null,
        passwordHash?.to ?? null,
        precisionTarget !== undefined,
        precisionTarget ?? null,
        id,
        passwordHash?.from ?? null,
      ],
    );
    if (changed === undefined) throw new AppError('access_denied');
    if (passwordHash !== undefined) await endSessions(tx, id);
    if (revokeKeys) await revokeServiceKeys(tx, id);
    return tx.findOneOrFail(Account, { id });
  });
}

/** Ends every log-in of the account, with its access tokens and links to a new password, within the caller's transaction. */
export async function endSessions(tx: EntityManager, accountId: string): Promise<void> {
  // First: a log-in at the same time waits for this, and is a new one.
  await tx.execute('update accounts set login_generation = login_generation + 1 where id = ?', [accountId]);
  await tx.nativeDelete(RefreshToken, { account: accountId });
  await tx.nativeDelete(WebSession, { account: accountId });
  await tx.nativeDelete(PasswordReset, { account: accountId });
}
