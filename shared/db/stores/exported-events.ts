import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Exported } from '../../schemas/export.ts';
import { parseTimestamp } from '../../schemas/moment.ts';
import { MemoryTombstone } from '../entities/memory.ts';
import { insertNew } from '../rows.ts';
import { changeMemory } from './memory/change.ts';

/** Keeps syncs from making rows of the events that the person forgot. */
export async function addMarks(
  em: EntityManager,
  account: string,
  marks: readonly Exported<'mark'>[],
): Promise<void> {
  const rows = marks
    .filter(({ forgotten }) => forgotten)
    .map(({ event_id: id }) => ({ account, eventHash: raw('event_hash(?, ?)', [account, id]) }));
  if (rows.length > 0) await changeMemory(em, account, (tx) => insertNew(tx, MemoryTombstone, rows));
}

/** Gives events of the account their earlier time of receipt. `events` are as the export has them. */
export async function restoreReceipts(
  em: EntityManager,
  accountId: string,
  events: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const received = events.flatMap(({ id, received_at: at }) =>
    typeof at === 'string' && parseTimestamp(at) !== undefined ? [{ id, at }] : [],
  );
  await em.execute(
    `update recording_events e set received_at = r.at
       from json_to_recordset(?::json) r (id text, at timestamptz)
      where e.account_id = ? and e.id = r.id and e.received_at > r.at`,
    [JSON.stringify(received), accountId],
  );
}

/** Ends references to facts that are not the account's, as a file may have them that was changed or cut off. */
export async function endDanglingReferences(em: EntityManager, accountId: string): Promise<void> {
  const lacks = (column: string) =>
    `f.account_id = ? and f.${column} is not null
     and not exists (select from facts s where s.id = f.${column} and s.account_id = f.account_id)`;
  await changeMemory(em, accountId, async (tx) => {
    await tx.execute(`delete from facts f where ${lacks('revision_of')}`, [accountId]);
    await tx.execute(
      `update facts f set superseded_by = null, invalidated_at = null where ${lacks('superseded_by')}`,
      [accountId],
    );
    await tx.execute(`update facts f set ended_by = null where ${lacks('ended_by')}`, [accountId]);
  });
}
