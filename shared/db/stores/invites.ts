import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { newId } from '../../ids.ts';
import { hashKey, newToken } from '../../security/keys.ts';
import { Invite } from '../entities/account.ts';
import { emailKey } from './accounts.ts';

/** Creates an invitation and returns its code. Only a hash is stored, so the code cannot be read again. */
export async function createInvite(em: EntityManager): Promise<string> {
  const { token, hash } = newToken();
  await em.insert(Invite, { id: newId(), hash, createdAt: new Date() });
  return token;
}

const LISTED_INVITES_MAX = 1000;

export function listInvites(em: EntityManager): Promise<Loaded<Invite>[]> {
  return em.find(Invite, {}, { orderBy: { id: 'desc' }, limit: LISTED_INVITES_MAX });
}

/** Reports whether the code is that of an unused invitation. */
export async function isInvite(em: EntityManager, code: string): Promise<boolean> {
  return (await em.count(Invite, { hash: hashKey(code), usedAt: null })) === 1;
}

/** Throws `invite_required` if the code is unknown or used. */
export async function redeemInvite(tx: EntityManager, code: string): Promise<void> {
  const changedRows = await tx.nativeUpdate(
    Invite,
    { hash: hashKey(code), usedAt: null },
    { usedAt: new Date() },
  );
  if (changedRows === 0) throw new AppError('invite_required');
}

/** Maximum number of entries. Compared with PostgreSQL's estimate, because an exact count would be too slow. */
const WAITLIST_MAX = 1_000_000;
/** Retry delay while the waitlist is full. An operator has to make room. */
const FULL_WAITLIST_RETRY_S = 3600;

/**
 * Rewrites a known address without a change: if only new addresses waited for the disk, the response time would reveal
 * who is on the list. Throws `overloaded` if the list is full.
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
    [WAITLIST_MAX, emailKey(email), email.normalize('NFC').trim()],
  );
  if (full !== undefined) throw new AppError('overloaded', { retryAfterS: FULL_WAITLIST_RETRY_S });
}
