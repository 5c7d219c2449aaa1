import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../transaction.ts';
import { revokeConnectionsOf } from './connections/revoke.ts';

const EVENTS_AT_ONCE = 20_000;

/**
 * Erases an account and all that belongs to it, in one transaction. Its connections end as by a revoke, and the texts
 * and the use of the profile in predictions made with them go at once; usage and tombstones stay with the apps.
 * Returns the ids of the predictions that ended. The second time it changes nothing.
 *
 * Locks in the common order: attempts, connections, usage, predictions, and the account last. Whoever adds to an account
 * holds its row, so that nothing can be added between the deletes below that lock and the account's own.
 */
export function eraseAccount(em: EntityManager, id: string, windowS: number): Promise<string[]> {
  return transaction(em, async (tx) => {
    const ended = await revokeConnectionsOf(tx, id, windowS);
    await erasePredictions(tx, id);
    await tx.execute(`select id from accounts where id = ? for update`, [id]);
    await eraseEvents(tx, id);
    await tx.execute(`delete from recording_sessions where account_id = ?`, [id]);
    // Everything else references it with `on delete cascade`.
    await tx.execute(`delete from accounts where id = ?`, [id]);
    return ended;
  });
}

/** Millions, maybe: no single statement takes longer than a statement may. */
async function eraseEvents(tx: EntityManager, accountId: string): Promise<void> {
  for (let erased = EVENTS_AT_ONCE; erased === EVENTS_AT_ONCE; ) {
    const events = await tx.execute<object[]>(
      `delete from recording_events where ctid = any (array(
         select ctid from recording_events where account_id = ? limit ?)) returning 1`,
      [accountId, EVENTS_AT_ONCE],
    );
    erased = events.length;
  }
}

/**
 * By the connections that the account has, and by the attempts that once gave it one which is another's now: they are
 * kept for longer than any text. The recovery window ends as well: there is nothing left to recover.
 */
async function erasePredictions(tx: EntityManager, accountId: string): Promise<void> {
  await tx.execute(
    `with grants as (
       select id as connection_id, null::int as grant_revision from connections where account_id = ?
       union
       select connection_id, grant_revision from connection_attempts
        where account_id = ? and connection_id is not null
     ), made as (
       update history h
          set report = (h.report::jsonb || '{"profileRevision": "none"}')::text, expires_at = least(h.expires_at, now())
        where h.connection_id = any (array(select g.connection_id from grants g))
          and exists (
            select from grants g
             where g.connection_id = h.connection_id
               and coalesce((h.report::json ->> 'grantRevision')::int, 0) = coalesce(g.grant_revision, (h.report::json ->> 'grantRevision')::int, 0))
       returning h.id
     )
     delete from answers a using made where a.id = made.id`,
    [accountId, accountId],
  );
}
