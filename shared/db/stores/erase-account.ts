import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { takeSteps } from '../steps.ts';
import { transaction } from '../transaction.ts';
import { endSessions } from './accounts.ts';
import { endTheRest } from './connections/revoke.ts';
import { endAttempts, endGrants, endWhatRuns, eraseMadeWithGrants } from './erasure/grants.ts';
import { type EndingTerms, endJobs, eraseJobs } from './erasure/jobs.ts';
import { eraseMemory, eraseReplies } from './erasure/memory.ts';
import { forgetWhoCalled } from './erasure/provider-calls.ts';
import { eraseRecordings } from './erasure/recordings.ts';
import { revokeServiceKeys } from './service-keys.ts';
import { removeFromWaitlist } from './waitlist.ts';

/*
 * An account is erased in short transactions, so that no lock is held for long. The first anonymizes the account, for
 * good, the second revokes its connections: then the caller gets the answer. Every later step is safe to repeat, so any
 * process can continue where another stopped; two processes that erase the same account only waste their time.
 */

/** How often the process that erases renews its lease of `LEASE_S`; without a renewal it counts as dead. */
const RENEW_EVERY_MS = 1000;
const LEASE_S = 4;

/**
 * Begins to erase an account, for good: no credential of it works any more, nothing can be added to it, its e-mail
 * address is free, its connections are revoked. Throws `not_authenticated` when the account is gone or another call
 * erases it.
 */
export async function beginErasure(em: EntityManager, id: string): Promise<void> {
  await transaction(em, async (tx) => {
    // Waits for an admission under way, so the erasure finds what that adds; later ones are refused.
    await tx.execute('select lock_admissions_v1(?)', [id]);
    await removeFromWaitlist(tx, id);
    // The key of an address has an @, so this one is nobody's.
    const erasing = await tx.execute<object[]>(
      `update accounts
          set active = false, erasing_at = now(), email = '', email_key = id::text, name = '', password_hash = '',
              updated_at = now()
        where id = ? and erasing_at is null returning id`,
      [id],
    );
    if (erasing.length === 0) throw new AppError('not_authenticated');
    await endSessions(tx, id);
    await revokeServiceKeys(tx, id);
  });
  await endGrants(em, id);
}

/** Continues an erasure that this process began or took over, for about so long. False when it is not finished. */
export async function continueErasure(
  em: EntityManager,
  id: string,
  terms: EndingTerms,
  withinMs: number,
): Promise<boolean> {
  const finished = await takeSteps(renewing(em, id, shortSteps(em, id, terms)), withinMs);
  if (!finished)
    await em.execute(`update accounts set erasing_at = now() - make_interval(secs => ?) where id = ?`, [
      LEASE_S,
      id,
    ]);
  return finished;
}

async function* renewing(em: EntityManager, id: string, steps: AsyncIterable<void>): AsyncGenerator<void> {
  let renewedAt = performance.now();
  for await (const _ of steps) {
    if (performance.now() - renewedAt > RENEW_EVERY_MS) {
      await em.execute(`update accounts set erasing_at = now() where id = ?`, [id]);
      renewedAt = performance.now();
    }
    yield;
  }
}

/**
 * Finishes what other processes left when they died or ran out of time: erasures, and ends under revoked connections; works
 * for about `withinMs`. Any number of processes may call it, at any time.
 */
export async function finishWhatIsLeft(
  em: EntityManager,
  terms: EndingTerms,
  withinMs: number,
): Promise<void> {
  try {
    await takeSteps(endTheRest(em, terms), withinMs);
  } finally {
    await finishErasures(em, terms, withinMs);
  }
}

async function finishErasures(em: EntityManager, terms: EndingTerms, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const id = await takeOver(em);
    if (id === undefined) return;
    const finished = await continueErasure(em, id, terms, until - performance.now());
    if (!finished) return;
  }
}

async function takeOver(em: EntityManager): Promise<string | undefined> {
  const [taken] = await em.execute<{ id: string }[]>(
    `update accounts set erasing_at = now()
      where id = (
        select id from accounts where erasing_at <= now() - make_interval(secs => ?)
         order by erasing_at limit 1 for update skip locked)
     returning id`,
    [LEASE_S],
  );
  return taken?.id;
}

/** Everything after `beginErasure`, all of which a crash may have left. What people wait for comes first. */
async function* shortSteps(em: EntityManager, id: string, terms: EndingTerms): AsyncGenerator<void> {
  await endGrants(em, id);
  yield* endAttempts(em, id);
  yield* endWhatRuns(em, id, terms);
  yield* endJobs(em, id, terms);
  yield* eraseMadeWithGrants(em, id);
  yield* eraseRecordings(em, id);
  yield* eraseMemory(em, id);
  yield* eraseJobs(em, id);
  yield* forgetWhoCalled(em, id);
  yield* eraseReplies(em, id);
  // The remaining tables reference it with `on delete cascade`.
  await em.execute(`delete from accounts where id = ?`, [id]);
}
