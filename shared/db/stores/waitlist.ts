import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { emailKey } from './accounts.ts';

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
