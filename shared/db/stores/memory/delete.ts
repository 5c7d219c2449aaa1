import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { findRowAndDerivedIds, readMemoryTexts, redactPredictions } from '../replies/redact.ts';
import { changeMemory } from './change.ts';
import { deleteFacts, forgetDerived } from './forget-derived.ts';
import { DERIVED_FROM, FORGOTTEN } from './links.ts';
import { type ComparisonBudget, newBudget } from './repeats.ts';

/**
 * Deletes a raw row. A tombstone keeps the next sync from making the row again from its recorded event; `purgeEvent`
 * also deletes the event. Throws `not_found`.
 */
export function deleteRaw(
  em: EntityManager,
  accountId: string,
  id: string,
  { purgeEvent }: { purgeEvent: boolean },
): Promise<DeletionReceipt> {
  return changeMemory(em, accountId, async (tx) => {
    const affectedRows = await readRowAndDerived(tx, accountId, id);
    const [row] = await tx.execute<{ content: string; eventId: string | null; saidAt: Date }[]>(
      `delete from raw_memories where id = ? and account_id = ?
       returning content, event_id as "eventId", occurred_at as "saidAt"`,
      [id, accountId],
    );
    if (row === undefined) throw new AppError('not_found');
    const eventDeleted = await preventReimport(tx, accountId, row.eventId, purgeEvent);
    const deletedTexts = { texts: [row.content], budget: newBudget() };
    const counts = await forgetDerived(tx, accountId, {
      tier: 'raw',
      id,
      ...deletedTexts,
      saidAt: row.saidAt,
    });
    await redactDerived(tx, accountId, affectedRows, deletedTexts);
    return { id, event_deleted: eventDeleted, ...counts };
  });
}

/** Deletes an episode; its raw rows stay. Throws `not_found`. */
export function deleteEpisode(em: EntityManager, accountId: string, id: string): Promise<DeletionReceipt> {
  return changeMemory(em, accountId, async (tx) => {
    const affectedRows = await readRowAndDerived(tx, accountId, id);
    const [row] = await tx.execute<{ text: string }[]>(
      `delete from episodes where id = ? and account_id = ? returning title || E'\\n' || summary as text`,
      [id, accountId],
    );
    if (row === undefined) throw new AppError('not_found');
    const deletedTexts = { texts: [row.text], budget: newBudget() };
    const counts = await forgetDerived(tx, accountId, { tier: 'episode', id, ...deletedTexts });
    await redactDerived(tx, accountId, affectedRows, deletedTexts);
    return { id, event_deleted: false, ...counts };
  });
}

async function readRowAndDerived(tx: EntityManager, accountId: string, id: string) {
  const ids = await findRowAndDerivedIds(tx, accountId, id);
  return { ids, textsBefore: await readMemoryTexts(tx, accountId, ids) };
}

/** Redacts predictions that may repeat deleted texts: `texts`, and those of `textsBefore` that are no longer stored. */
async function redactDerived(
  tx: EntityManager,
  accountId: string,
  { ids, textsBefore }: Awaited<ReturnType<typeof readRowAndDerived>>,
  { texts, budget }: { texts: readonly string[]; budget: ComparisonBudget },
): Promise<void> {
  const remainingTexts = new Map(
    (await readMemoryTexts(tx, accountId, ids))?.map((row) => [row.id, row.text]),
  );
  const lostTexts = textsBefore
    ?.filter((row) => remainingTexts.get(row.id) !== row.text)
    .map(({ text }) => text);
  await redactPredictions(tx, accountId, ids, { texts: lostTexts && [...texts, ...lostTexts], budget });
}

/**
 * Deletes a fact and its former wordings, and keeps promotion from making a fact from its quotes again. Facts that it
 * superseded become current again, or are superseded by its successor. Throws `not_found`.
 */
export function deleteFact(em: EntityManager, accountId: string, id: string): Promise<DeletionReceipt> {
  return changeMemory(em, accountId, async (tx) => {
    await forgetQuotes(tx, accountId, id);
    const wordings = await tx.execute<{ id: string }[]>(
      `select id from facts where account_id = ? and id = ?
       union all
       select id from facts where account_id = ? and superseded_by = ? and revision_of = superseded_by`,
      [accountId, id, accountId, id],
    );
    const wordingTexts = await readMemoryTexts(
      tx,
      accountId,
      wordings.map((row) => row.id),
    );
    const { deleted, restored } = await deleteFacts(tx, accountId, [id]);
    if (deleted.length === 0) throw new AppError('not_found');
    const texts = wordingTexts?.map(({ text }) => text);
    await redactPredictions(tx, accountId, [id], { texts, budget: newBudget() });
    const episodes = { deleted: 0, stale: 0 };
    return { id, event_deleted: false, episodes, facts: { deleted: 0, stale: 0, restored } };
  });
}

/** Marks a fact's quotes as forgotten. Deleting the quoted raw row also deletes the mark. */
async function forgetQuotes(tx: EntityManager, accountId: string, id: string): Promise<void> {
  await tx.execute(
    `update memory_links set relation = ? where account_id = ? and from_id = ? and relation = ? and quote is not null`,
    [FORGOTTEN, accountId, id, DERIVED_FROM],
  );
}

/** Keeps a sync from making the event's raw row again. Returns whether the event was deleted. */
async function preventReimport(
  tx: EntityManager,
  accountId: string,
  eventId: string | null,
  purge: boolean,
): Promise<boolean> {
  if (eventId === null) return false;
  await tx.execute(
    `insert into memory_tombstones (account_id, event_hash) values (?, event_hash(?, ?)) on conflict do nothing`,
    [accountId, accountId, eventId],
  );
  if (!purge) return false;
  const [deleted] = await tx.execute<{ bytes: number }[]>(
    `delete from recording_events where account_id = ? and id = ? returning octet_length(body) as bytes`,
    [accountId, eventId],
  );
  if (deleted === undefined) return false;
  await tx.execute('update account_usage set events = events - 1, bytes = bytes - ? where account_id = ?', [
    deleted.bytes,
    accountId,
  ]);
  return true;
}
