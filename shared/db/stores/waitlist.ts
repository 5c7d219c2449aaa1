import type { EntityManager } from '@mikro-orm/postgresql';
import { emailKey } from './accounts.ts';

/** Adds an e-mail address to the waitlist; one that is there stays as it is. */
export async function addToWaitlist(em: EntityManager, email: string): Promise<void> {
  await em.execute(
    `insert into waitlist (email_key, email, created_at) values (?, ?, now()) on conflict do nothing`,
    [emailKey(email), email.normalize('NFC').trim()],
  );
}
