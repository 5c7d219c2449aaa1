import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../../transaction.ts';
import { endPredictionsOf } from '../connections/revoke.ts';
import { type EndedGrant, eraseMadeWith } from './made-with-grant.ts';

/**
 * Revokes an account's connections, detaches them from it, and deletes its attempts. The same transaction records which
 * predictions are to be ended and erased, because the user may connect again and reuse the connection at once.
 *
 * The account itself is not locked here: a long upload may hold it, and predictions would wait behind both. It is
 * inactive by now, so it can approve and connect nothing more.
 */
export function endGrants(em: EntityManager, accountId: string): Promise<void> {
  return transaction(em, async (tx) => {
    await tx.execute(`select id from connection_attempts where account_id = ? order by id for update`, [
      accountId,
    ]);
    await tx.execute(`select id from connections where account_id = ? order by id for update`, [accountId]);
    // Where a connection belongs to another account by now, the attempts tell which grants were this account's.
    // Admission shares the connections' locks, so whatever it admitted under these grants has an earlier time.
    await tx.execute(
      `insert into erasing_grants (account_id, connection_id, grant_revision, ended_at)
       select account_id, id, 0, clock_timestamp() from connections where account_id = ?
       union
       select t.account_id, t.connection_id, t.grant_revision, clock_timestamp()
         from connection_attempts t join connections c on c.id = t.connection_id
        where t.account_id = ? and c.account_id is distinct from t.account_id
       on conflict do nothing`,
      [accountId, accountId],
    );
    await tx.execute(`delete from connection_attempts where account_id = ?`, [accountId]);
    await tx.execute(
      `update connections
          set account_id = null, revoked_at = case when status = 'connected' then now() else revoked_at end,
              status = 'revoked'
        where account_id = ?`,
      [accountId],
    );
  });
}

/** Ends what still runs under the account's ended grants, connection by connection; returns the predictions' ids. */
export async function endWhatRuns(em: EntityManager, accountId: string, windowS: number): Promise<string[]> {
  const ended: string[] = [];
  for (const { connectionId } of await endedGrants(em, accountId))
    ended.push(...(await endUnder(em, connectionId, windowS)));
  return ended;
}

/** A connection with another account's new grant has nothing left to end: making that grant ended it. */
function endUnder(em: EntityManager, connectionId: string, windowS: number): Promise<string[]> {
  return transaction(em, async (tx) => {
    const [revoked] = await tx.execute<object[]>(
      `select from connections where id = ? and status = 'revoked' for update`,
      [connectionId],
    );
    return revoked === undefined ? [] : endPredictionsOf(tx, [connectionId], windowS);
  });
}

/** Erases what was written and suggested under the account's ended grants, in short steps. */
export async function* eraseMadeWithGrants(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (const grant of await endedGrants(em, accountId)) {
    yield* eraseMadeWith(em, accountId, grant);
    await em.execute(
      `delete from erasing_grants where account_id = ? and connection_id = ? and grant_revision = ?`,
      [accountId, grant.connectionId, grant.grantRevision],
    );
    yield;
  }
}

function endedGrants(em: EntityManager, accountId: string): Promise<EndedGrant[]> {
  return em.execute<EndedGrant[]>(
    `select connection_id as "connectionId", grant_revision as "grantRevision" from erasing_grants
      where account_id = ? order by connection_id, grant_revision`,
    [accountId],
  );
}
