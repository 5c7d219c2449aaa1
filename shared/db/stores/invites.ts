import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { Invite } from '../entities/account.ts';
import { emailKey } from './accounts.ts';

/** Creates an invitation. Its code is only returned here; its hash is stored. */
export async function createInvite(em: EntityManager): Promise<string> {
  const { token, hash } = newToken();
  await em.insert(Invite, { id: newId(), hash, createdAt: new Date() });
  return token;
}

const LISTED_MAX = 1000;

/** The latest invitations, newest first. */
export function listInvites(em: EntityManager): Promise<Loaded<Invite>[]> {
  return em.find(Invite, {}, { orderBy: { id: 'desc' }, limit: LISTED_MAX });
}

/** True if the code is an unused invitation. */
export async function isInvite(em: EntityManager, code: string): Promise<boolean> {
  return (await em.count(Invite, { hash: hashKey(code), usedAt: null })) === 1;
}

/** Uses an invitation up, within the caller's transaction. Throws `invite_required` if it is unknown or used. */
export async function useInvite(tx: EntityManager, code: string): Promise<void> {
  const used = await tx.nativeUpdate(Invite, { hash: hashKey(code), usedAt: null }, { usedAt: new Date() });
  if (used === 0) throw new AppError('invite_required');
}

/** About how many addresses the waitlist holds, by the last count of autovacuum: counting them each time would cost too much. */
const ENTRIES_MAX = 1_000_000;
/** Until an operator has made room. */
const FULL_RETRY_S = 3600;

/**
 * Adds an e-mail address to the waitlist; one that is on it already stays as it is, but is written all the same: otherwise
 * only a new one would wait for the disk, and the time would tell who is on the list. Throws `overloaded` when it is full.
 */
export async function addToWaitlist(em: EntityManager, email: string): Promise<void> {
  const [full] = await em.execute<object[]>(
    `with room as (
       select from pg_class where oid = 'waitlist'::regclass and reltuples < ?
     ), added as (
       insert into waitlist as w (email_key, email, created_at) select ?, ?, now() from room
       on conflict (email_key) do update set email = w.email
     )
     select where not exists (select from room)`,
    [ENTRIES_MAX, emailKey(email), email.normalize('NFC').trim()],
  );
  if (full !== undefined) throw new AppError('overloaded', { retryAfterS: FULL_RETRY_S });
}

/** Removes the e-mail address of an account, within the caller's transaction. */
export async function removeFromWaitlist(tx: EntityManager, accountId: string): Promise<void> {
  await tx.execute(`delete from waitlist w using accounts a where a.id = ? and w.email_key = a.email_key`, [
    accountId,
  ]);
}
