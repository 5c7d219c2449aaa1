import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../transaction.ts';
import { endSessions } from './accounts.ts';
import { endGrants, endWhatRuns, eraseMadeWithGrants } from './erasure/grants.ts';
import { eraseRecordings } from './erasure/recordings.ts';

/*
 * An account is erased in short transactions, none of which holds a lock that anybody else wants for longer than it
 * takes. The first makes it nobody's, for good. Every step after it can be repeated, so that any process goes on
 * where another one stopped; two at work on one account only waste their time.
 */

/** While a process works on an erasure it says so this often; one that was silent for `LEASE_S` has died. */
const RENEW_EVERY_MS = 1000;
const LEASE_S = 4;
/** For each moment of work so many of rest: the disk and the cores are for those who wait for an answer. */
const REST = 2;
const ROWS_AT_ONCE = 1000;

/**
 * Begins to erase an account, for good: no credential of it works any more, nothing can be added to it, its e-mail
 * address is free, its connections end as by a revoke. Returns the ids of the predictions that ended, for whoever runs
 * them or waits for them; undefined when the account is gone or another call erases it.
 */
export async function beginErasure(
  em: EntityManager,
  id: string,
  windowS: number,
): Promise<string[] | undefined> {
  const begun = await transaction(em, async (tx) => {
    // The key of an address has an @, so this one is nobody's.
    const erasing = await tx.execute<object[]>(
      `update accounts
          set active = false, erasing_at = now(), email = '', email_key = id::text, name = '', password_hash = '',
              updated_at = now()
        where id = ? and erasing_at is null returning id`,
      [id],
    );
    if (erasing.length === 0) return false;
    await endSessions(tx, id);
    await tx.execute(`delete from service_keys where account_id = ?`, [id]);
    return true;
  });
  if (!begun) return undefined;
  await endGrants(em, id);
  return endWhatRuns(em, id, windowS);
}

/** Goes on with an erasure that this process began or took over. False when it is not through `withinMs`. */
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
 * Finishes what processes that died, or had no more time, left of erasures; works for about `withinMs`. Returns how many
 * accounts are erased now. Any number of processes may call it, as often as they like.
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

/** All that is left to do after `beginErasure`, and what it may have left. What a person waits for comes first. */
async function* shortSteps(em: EntityManager, id: string, windowS: number): AsyncGenerator<void> {
  await endGrants(em, id);
  await endWhatRuns(em, id, windowS);
  yield* eraseMadeWithGrants(em, id);
  yield* eraseRecordings(em, id);
  yield* eraseFacts(em, id);
  // What is left references it with `on delete cascade`.
  await em.execute(`delete from accounts where id = ?`, [id]);
}

async function* eraseFacts(em: EntityManager, id: string): AsyncGenerator<void> {
  for (let erased = ROWS_AT_ONCE; erased === ROWS_AT_ONCE; ) {
    const gone = await em.execute<object[]>(
      `delete from facts where ctid = any (array(select ctid from facts where account_id = ? limit ?)) returning 1`,
      [id, ROWS_AT_ONCE],
    );
    erased = gone.length;
    yield;
  }
}
