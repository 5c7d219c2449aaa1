import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { ErrorCode } from '../../../errors/catalogue.ts';
import { Connection, ErasingGrant } from '../../entities/connection.ts';
import { transaction } from '../../statement.ts';
import { ROWS_AT_ONCE, repeatStep } from '../../steps.ts';
import { announceRevoked, endWorkUnder } from '../connections/revoke.ts';
import { completeWithin, type WorkRef } from '../work/complete.ts';
import { eraseRows } from './rows.ts';

export interface EndingOptions {
  /** Seconds for which callers can still request the outcome of ended work. */
  windowS: number;
  /** Error code for the cancelled work of each kind. The kinds are cancelled in this order. */
  cancelCodes: ReadonlyMap<string, ErrorCode>;
  /** Wakes the processes that wait for the ended work or run it. */
  announceEnded(ids: readonly string[]): void;
}

/**
 * Cancels the account's live work. No work is added meanwhile: `admit_v1` refuses it. Rows of the kinds' own are not
 * told of the end, because they are erased as well.
 */
export async function* endJobs(
  em: EntityManager,
  accountId: string,
  { windowS, cancelCodes, announceEnded }: EndingOptions,
): AsyncGenerator<void> {
  for (const [kind, code] of cancelCodes)
    yield* repeatStep(async () => {
      const live = await em.execute<WorkRef[]>(
        `select id, kind, party, month from work where kind = ? and party = ? limit ${ROWS_AT_ONCE}`,
        [kind, accountId],
      );
      const end = { guard: 'live', state: 'cancelled', code } as const;
      const batch = live.map((one) => ({ ...one, ...end }));
      announceEnded(await transaction(em, (tx) => completeWithin(tx, batch, windowS)));
      return live.length;
    });
}

/** Erases the account's work from the history. Unlike an app's predictions, it leaves no tombstones. */
export async function* eraseJobs(em: EntityManager, accountId: string): AsyncGenerator<void> {
  const weeks = await em.execute<{ name: string }[]>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'history'::regclass`,
  );
  // Work of accounts costs no unit, so its `month` is null. The index `history_party` contains only rows without a
  // month.
  const ofAccount = 'party = ? and month is null';
  for (const { name } of weeks) {
    yield* eraseRows(em, accountId, 'answers', `id in (select id from ${name} where ${ofAccount})`);
    yield* eraseRows(em, accountId, name, ofAccount);
  }
}

/**
 * Revokes an account's connections and removes the account from them. First records their grants, whose predictions
 * must still be ended and erased: the user may at once connect another account and reuse the connection. Does not lock
 * the account: a long upload may hold that lock, and meanwhile predictions would wait for the locked connections. The
 * account is inactive by now, so it can connect nothing more.
 */
export function endGrants(em: EntityManager, accountId: string): Promise<void> {
  return transaction(em, async (tx) => {
    await tx.execute(`select id from connections where account_id = ? order by id for update`, [accountId]);
    const connected = { account: accountId, status: 'connected' } as const;
    await announceRevoked(tx, await tx.find(Connection, connected, { fields: ['app', 'account'] }));
    // Admissions lock the connections too, so work admitted under these grants was admitted before `ended_at`.
    await tx.execute(
      `insert into erasing_grants (account_id, connection_id, grant_revision, ended_at)
       select account_id, id, 0, clock_timestamp() from connections where account_id = ?
       on conflict do nothing`,
      [accountId],
    );
    const revokedAt = raw(`case when status = 'connected' then now() else revoked_at end`);
    await tx.nativeUpdate(
      Connection,
      { account: accountId },
      { account: null, status: 'revoked', revokedAt },
    );
  });
}

export function endRunningPredictions(
  em: EntityManager,
  accountId: string,
  { windowS, announceEnded }: Pick<EndingOptions, 'windowS' | 'announceEnded'>,
): AsyncGenerator<void> {
  const grants = `
    select connection_id, ended_at from erasing_grants where account_id = ? and grant_revision = 0
     union all
    select connection_id, e.ended_at from ending_connections e join erasing_grants g using (connection_id)
     where g.account_id = ?`;
  return repeatStep(async () => {
    const step = await transaction(em, (tx) => endWorkUnder(tx, grants, [accountId, accountId], windowS));
    announceEnded(step.ended);
    // Work that was found but not ended has meanwhile ended by itself or begun a new attempt, which the next step ends.
    return step.ended.length < step.found ? ROWS_AT_ONCE : step.found;
  });
}

/** Maximum number of predictions that one step erases: few, so that a request for one of them hardly waits. */
const PREDICTIONS_AT_ONCE = 500;

/** Erases the answers and profile revisions of the predictions under the account's ended grants. */
export async function* erasePredictionsOfGrants(em: EntityManager, accountId: string): AsyncGenerator<void> {
  // A revision of 0 stands for all grants of the connection.
  const inOrder = { orderBy: { connectionId: 'asc', grantRevision: 'asc' } } as const;
  const grants = await em.find(ErasingGrant, { account: accountId }, inOrder);
  for (const { connectionId, grantRevision } of grants) {
    yield* repeatStep(async () => {
      const [step] = await em.execute<{ left: boolean }[]>(
        `select erase_made_with_v1(?::uuid, ?::uuid, ?::int, ?::int) as left`,
        [accountId, connectionId, grantRevision, PREDICTIONS_AT_ONCE],
      );
      return step?.left ? PREDICTIONS_AT_ONCE : 0;
    }, PREDICTIONS_AT_ONCE);
    await em.nativeDelete(ErasingGrant, { account: accountId, connectionId, grantRevision });
    yield;
  }
}
