import { domainToUnicode } from 'node:url';
import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import { defined } from '../../schemas/present.ts';
import {
  Account,
  EmailChange,
  PasswordReset,
  RefreshToken,
  WaitlistEntry,
  WebSession,
} from '../entities/account.ts';
import { unlessTaken } from '../faults.ts';
import { query, transaction } from '../statement.ts';
import { revokeServiceKeys } from './service-keys.ts';

const ACCOUNTS_BY_LOG_IN = {
  name: 'accounts_by_log_in_v1',
  text: `select a.id, a.login_generation as generation, coalesce(a.threshold_floor, 0) as "thresholdFloor",
                place::int, e.id is not null as "hasEnded"
           from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (account_id, log_in_id, place)
           join accounts a on a.id = asked.account_id and a.active
           left join ended_log_ins e on e.id = asked.log_in_id`,
};

export interface ActiveAccount {
  id: string;
  generation: number;
  thresholdFloor: number;
  /** True if its owner has ended the log-in. */
  hasEnded: boolean;
}

/** Finds the active accounts of log-ins, in their order; undefined in place of one that is disabled or does not exist. */
export async function findActiveAccounts(
  pool: Pool,
  logIns: readonly { id: string; accountId: string }[],
): Promise<(ActiveAccount | undefined)[]> {
  const asked = [logIns.map(({ accountId }) => accountId), logIns.map(({ id }) => id)];
  const rows = await query<ActiveAccount & { place: number }>(pool, ACCOUNTS_BY_LOG_IN, asked);
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return logIns.map((_, index) => byPlace.get(index + 1));
}

/**
 * Characters with a meaning in URLs. `domainToUnicode` would take the text behind them for another part of a URL, and
 * cut it off or decode it.
 */
const URL_SYNTAX = /[/?#\\%]/;

/** Returns the form in which addresses are compared: Punycode and other spellings become equal (UTS #46). */
export function emailKey(email: string): string {
  const foldedEmail = email.normalize('NFC').trim().toLowerCase();
  const start = foldedEmail.lastIndexOf('@') + 1;
  const domain = foldedEmail.slice(start);
  const unicodeDomain = URL_SYNTAX.test(domain) ? '' : domainToUnicode(domain);
  return foldedEmail.slice(0, start) + (unicodeDomain || domain);
}

/** Finds the account even if it is disabled. */
export async function findByEmail(em: EntityManager, email: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { emailKey: emailKey(email) })) ?? undefined;
}

/**
 * Reads an account's password hash, or returns `decoy` if there is no such account or it is being erased. Reads one row
 * with one text in either case, and makes no entity: a difference in time would reveal whether an account exists.
 */
export async function findPasswordHash(em: EntityManager, email: string, decoy: string): Promise<string> {
  const [row] = await em.execute<{ hash: string }[]>(
    `select coalesce((select password_hash from accounts where email_key = ? and erasing_at is null), ?) as hash`,
    [emailKey(email), decoy],
  );
  return row?.hash ?? decoy;
}

/** Finds the account even if it is disabled, but not if it is being erased. */
export async function findAnyAccount(em: EntityManager, id: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { id, erasingAt: null })) ?? undefined;
}

/** Finds the account unless it is disabled. */
export async function findAccount(em: EntityManager, id: string): Promise<Account | undefined> {
  return (await em.findOne(Account, { id, active: true })) ?? undefined;
}

export async function listAccounts(em: EntityManager): Promise<Account[]> {
  return em.find(Account, { erasingAt: null }, { orderBy: { id: 'asc' } });
}

export interface NewAccount {
  email: string;
  name: string;
  passwordHash: string;
}

/** Creates an account, and removes its address from the waitlist. Throws `email_taken`. */
export async function createAccount(
  tx: EntityManager,
  { email, name, passwordHash }: NewAccount,
): Promise<Account> {
  const now = new Date();
  const account = tx.create(Account, {
    id: newId(),
    email: email.normalize('NFC').trim(),
    emailKey: emailKey(email),
    name,
    passwordHash,
    createdAt: now,
    updatedAt: now,
  });
  await unlessTaken('email_taken', () => tx.flush());
  await tx.nativeDelete(WaitlistEntry, { emailKey: account.emailKey });
  return account;
}

interface AccountChanges {
  name?: string | undefined;
  /** Null for the default. */
  precisionTarget?: number | null | undefined;
  /** Null for none. */
  thresholdFloor?: number | null | undefined;
  /** `to` is the new hash. `from`, if given, must be the account's hash. */
  passwordHash?: { from?: string; to: string } | undefined;
  /** If given, must be the account's generation of log-ins. */
  generation?: number | undefined;
  revokeKeys?: boolean | undefined;
}

/**
 * Changes the given fields; a new password ends all log-ins. Throws `access_denied` if `passwordHash.from` or
 * `generation` is not the account's, or the account is gone or disabled.
 */
export function changeAccount(
  em: EntityManager,
  id: string,
  { name, precisionTarget, thresholdFloor, passwordHash, generation, revokeKeys = false }: AccountChanges,
): Promise<Account> {
  return transaction(em, async (tx) => {
    const { from, to } = passwordHash ?? {};
    const where = { id, active: true, ...defined({ passwordHash: from, loginGeneration: generation }) };
    const change = defined({ name, passwordHash: to, precisionTarget, thresholdFloor });
    if ((await tx.nativeUpdate(Account, where, { ...change, updatedAt: raw('now()') })) === 0)
      throw new AppError('access_denied');
    if (passwordHash !== undefined) await endSessions(tx, id);
    if (revokeKeys) await revokeServiceKeys(tx, id);
    return tx.findOneOrFail(Account, { id });
  });
}

/** Ends all log-ins of the account, its access tokens and the links that were mailed. */
export async function endSessions(tx: EntityManager, accountId: string): Promise<void> {
  // This update comes first: a concurrent log-in waits for it, and then gets the new generation.
  await tx.nativeUpdate(Account, { id: accountId }, { loginGeneration: raw('login_generation + 1') });
  await tx.nativeDelete(RefreshToken, { account: accountId });
  await tx.nativeDelete(WebSession, { account: accountId });
  await tx.nativeDelete(PasswordReset, { account: accountId });
  await tx.nativeDelete(EmailChange, { account: accountId });
}
