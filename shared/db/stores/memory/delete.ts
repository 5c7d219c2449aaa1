import { hash } from 'node:crypto';
import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { AccountUsage } from '../../entities/account.ts';
import { Episode, MemoryLink, MemoryTombstone, RawMemory } from '../../entities/memory.ts';
import { addErasures } from '../erasures.ts';
import { findRowAndDerivedIds, readMemoryTexts, redactPredictions } from '../replies/redact.ts';
import { changeMemory } from './change.ts';
import { deleteFacts, forgetDerived } from './forget-derived.ts';
import { forgetStatements, forgetWords } from './forgotten.ts';
import { DERIVED_FROM, FORGOTTEN } from './links.ts';
import { comparisonTimeUp } from './repeats.ts';

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
  return changeMemory(em, accountId, (tx) => eraseRaw(tx, accountId, id, { purgeEvent }));
}

/** Deletes a raw row in a transaction of `changeMemory`. */
export async function eraseRaw(
  tx: EntityManager,
  accountId: string,
  id: string,
  { purgeEvent }: { purgeEvent: boolean },
): Promise<DeletionReceipt> {
  const affectedRows = await readRowAndDerived(tx, accountId, id);
  const row = await tx.findOneOrFail(RawMemory, { id, account: accountId });
  await tx.nativeDelete(RawMemory, { id });
  await addErasures(tx, accountId, 'raw', [id]);
  await forgetWords(tx, accountId, row);
  const eventDeleted = await preventReimport(tx, accountId, row.eventId ?? null, purgeEvent);
  const deletedTexts = { texts: [row.content], timeUp: comparisonTimeUp() };
  const counts = await forgetDerived(tx, accountId, {
    tier: 'raw',
    id,
    ...deletedTexts,
    saidAt: row.occurredAt,
  });
  await redactDerived(tx, accountId, affectedRows, deletedTexts);
  return { id, event_deleted: eventDeleted, ...counts };
}

/** Deletes an episode; its raw rows stay. Throws `not_found`. */
export function deleteEpisode(em: EntityManager, accountId: string, id: string): Promise<DeletionReceipt> {
  return changeMemory(em, accountId, (tx) => eraseEpisode(tx, accountId, id));
}

/** Deletes an episode in a transaction of `changeMemory`. */
export async function eraseEpisode(
  tx: EntityManager,
  accountId: string,
  id: string,
): Promise<DeletionReceipt> {
  const affectedRows = await readRowAndDerived(tx, accountId, id);
  const row = await tx.findOneOrFail(Episode, { id, account: accountId });
  await tx.nativeDelete(Episode, { id });
  await addErasures(tx, accountId, 'episode', [id]);
  const deletedTexts = { texts: [`${row.title}\n${row.summary}`], timeUp: comparisonTimeUp() };
  const counts = await forgetDerived(tx, accountId, { tier: 'episode', id, ...deletedTexts });
  await redactDerived(tx, accountId, affectedRows, deletedTexts);
  return { id, event_deleted: false, ...counts };
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
  { texts, timeUp }: { texts: readonly string[]; timeUp: AbortSignal },
): Promise<void> {
  const remainingTexts = new Map(
    (await readMemoryTexts(tx, accountId, ids))?.map((row) => [row.id, row.text]),
  );
  const lostTexts = textsBefore
    ?.filter((row) => remainingTexts.get(row.id) !== row.text)
    .map(({ text }) => text);
  await redactPredictions(tx, accountId, ids, { texts: lostTexts && [...texts, ...lostTexts], timeUp });
}

/**
 * Deletes a fact and its former wordings, and keeps promotion from making a fact from its quotes again. Facts that it
 * superseded become current again, or are superseded by its successor. Throws `not_found`.
 */
export function deleteFact(em: EntityManager, accountId: string, id: string): Promise<DeletionReceipt> {
  return changeMemory(em, accountId, (tx) => eraseFact(tx, accountId, id));
}

/** Deletes a fact in a transaction of `changeMemory`. */
export async function eraseFact(tx: EntityManager, accountId: string, id: string): Promise<DeletionReceipt> {
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
  await forgetStatements(tx, accountId, [id]);
  const { deleted, restored } = await deleteFacts(tx, accountId, [id]);
  if (deleted.length === 0) throw new AppError('not_found');
  const texts = wordingTexts?.map(({ text }) => text);
  await redactPredictions(tx, accountId, [id], { texts, timeUp: comparisonTimeUp() });
  const episodes = { deleted: 0, stale: 0 };
  return { id, event_deleted: false, episodes, facts: { deleted: 0, stale: 0, restored } };
}

/** Marks a fact's quotes as forgotten. Deleting the quoted raw row also deletes the mark. */
async function forgetQuotes(tx: EntityManager, accountId: string, id: string): Promise<void> {
  const quotes = { account: accountId, fromId: id, relation: DERIVED_FROM, quote: { $ne: null } };
  await tx.nativeUpdate(MemoryLink, quotes, { relation: FORGOTTEN });
}

/** Keeps a sync from making the event's raw row again. Returns whether the event was deleted. */
async function preventReimport(
  tx: EntityManager,
  accountId: string,
  eventId: string | null,
  purge: boolean,
): Promise<boolean> {
  if (eventId === null) return false;
  const eventHash = raw('event_hash(?, ?)', [accountId, eventId]);
  await tx
    .createQueryBuilder(MemoryTombstone)
    .insert({ account: accountId, eventHash })
    .onConflict()
    .ignore()
    .execute('run');
  await addErasures(tx, accountId, purge ? 'event' : 'tombstone', [
    hash('sha256', `${accountId}:${eventId}`),
  ]);
  if (!purge) return false;
  const [deleted] = await tx.execute<{ bytes: number }[]>(
    `delete from recording_events where account_id = ? and id = ? returning octet_length(body) as bytes`,
    [accountId, eventId],
  );
  if (deleted === undefined) return false;
  await tx.nativeUpdate(
    AccountUsage,
    { account: accountId },
    { events: raw('events - 1'), bytes: raw('bytes - ?', [deleted.bytes]) },
  );
  return true;
}
