import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../errors/app-error.ts';
import { transaction } from '../transaction.ts';
import { endSessions } from './accounts.ts';
import { endGrants, endWhatRuns, eraseMadeWithGrants } from './erasure/grants.ts';
import { endJobs, eraseJobs } from './erasure/jobs.ts';
import { eraseMemory, eraseReplies } from './erasure/memory.ts';
import { forgetWhoCalled } from './erasure/provider-calls.ts';
import { eraseRecordings } from './erasure/recordings.ts';
import { revokeServiceKeys } from './service-keys.ts';
import { removeFromWaitlist } from './waitlist.ts';

/*
 * An account is erased in short transactions, so that no lock is held for long. The first anonymizes the account, for
 * good. Every later step is safe to repeat, so any process can continue where another stopped; two processes that
 * erase the same account only waste their time.
 */

/** How often the process that erases renews its lease of `LEASE_S`; without a renewal it counts as dead. */
const RENEW_EVERY_MS = 1000;
const LEASE_S = 4;
/**
 * How long to pause after a step, as a multiple of its duration: disk and cores are for callers who wait for an answer.
 */
const REST = 2;

/**
 * Begins to erase an account, for good: no credential of it works any more, nothing can be added to it, its e-mail
 * address is free, its connections end as by a revoke. Returns the ids of the work that ended, for whoever runs
 * them or waits for them. Throws `not_authenticated` when the account is gone or another call erases it.
 */
export async function beginErasure(em: EntityManager, id: string, windowS: number): Promise<string[]> {
  await transaction(em, async (tx) => {
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
  return [...(await endJobs(em, id, windowS)), ...(await endWhatRuns(em, id, windowS))];
}

/** Continues an erasure that this process began or took over. False when it is not finished `withinMs`. */
export async function continueErasure(
  em: EntityManager,
  id: string,
  { windowS, withinMs }: { windowS: number; withinMs: number },
): Promise<boolean> {
  const since = performance.now();
  let renewedAt = since;
  let rested = since;
  for await (const _ of shortSteps(em, id, windowS)) {
    const now = performance.now();
    if (now - since > withinMs) {
      await em.execute(`update accounts set erasing_at = now() - make_interval(secs => ?) where id = ?`, [
        LEASE_S,
        id,
      ]);
      return false;
    }
    if (now - renewedAt > RENEW_EVERY_MS) {
      await em.execute(`update accounts set erasing_at = now() where id = ?`, [id]);
      renewedAt = now;
    }
    await sleep(REST * (now - rested));
    rested = performance.now();
  }
  return true;
}

/**
 * Finishes erasures that other processes left when they died or ran out of time; works for about `withinMs`. Returns
 * how many accounts it finished. Any number of processes may call it, at any time.
 */
export async function finishErasures(
  em: EntityManager,
  { windowS, withinMs }: { windowS: number; withinMs: number },
): Promise<number> {
  const until = performance.now() + withinMs;
  for (let erased = 0; ; erased += 1) {
    const id = await takeOver(em);
    if (id === undefined) return erased;
    const finished = await continueErasure(em, id, { windowS, withinMs: until - performance.now() });
    if (!finished) return erased;
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

/** Everything after the first transaction of `beginErasure`. What a person waits for comes first. */
async function* shortSteps(em: EntityManager, id: string, windowS: number): AsyncGenerator<void> {
  await endGrants(em, id);
  await endWhatRuns(em, id, windowS);
  yield* eraseMadeWithGrants(em, id);
  yield* eraseRecordings(em, id);
  yield* eraseMemory(em, id);
  await eraseJobs(em, id, windowS);
  yield* forgetWhoCalled(em, id);
  yield* eraseReplies(em, id);
  // The remaining tables reference it with `on delete cascade`.
  await em.execute(`delete from accounts where id = ?`, [id]);
}
