import { hash } from 'node:crypto';
import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { AppError } from '../../../errors/app-error.ts';
import { idsOf } from '../../../ids.ts';
import type { ForgetReceipt } from '../../../schemas/forgetting.ts';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { AccountUsage } from '../../entities/account.ts';
import { Episode, MemoryLink, MemoryTombstone, RawMemory } from '../../entities/memory.ts';
import { insertNew } from '../../rows.ts';
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
  const eventsDeleted = await removeRaw(tx, accountId, [row], purgeEvent);
  const deletedTexts = { texts: [row.content], timeUp: comparisonTimeUp() };
  const counts = await forgetDerived(tx, accountId, {
    tier: 'raw',
    id,
    ...deletedTexts,
    saidAt: row.occurredAt,
  });
  await redactDerived(tx, accountId, affectedRows, deletedTexts);
  return { id, event_deleted: eventsDeleted > 0, ...counts };
}

/** Deletes raw rows from which nothing was derived, as `eraseRaw` does. Returns how many of their events it deleted. */
export async function eraseUnusedRaw(
  tx: EntityManager,
  accountId: string,
  rows: readonly RawMemory[],
  { purgeEvent }: { purgeEvent: boolean },
): Promise<number> {
  const eventsDeleted = await removeRaw(tx, accountId, rows, purgeEvent);
  const texts = rows.map(({ content }) => content);
  await redactPredictions(tx, accountId, idsOf(rows), { texts, timeUp: comparisonTimeUp() });
  return eventsDeleted;
}

/** Returns how many events were deleted. */
async function removeRaw(
  tx: EntityManager,
  accountId: string,
  rows: readonly RawMemory[],
  purgeEvents: boolean,
): Promise<number> {
  const ids = idsOf(rows);
  await tx.nativeDelete(RawMemory, { id: { $in: ids } });
  await addErasures(tx, accountId, 'raw', ids);
  await forgetWords(tx, accountId, rows);
  const eventIds = rows.flatMap(({ eventId }) => eventId ?? []);
  return preventReimport(tx, accountId, eventIds, purgeEvents);
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
  const { forgotten, ...counts } = await eraseFacts(tx, accountId, [id]);
  if (forgotten === 0) throw new AppError('not_found');
  return { id, event_deleted: false, episodes: counts.episodes, facts: counts.facts };
}

/** Deletes facts in a transaction of `changeMemory`. Leaves out those that are not there. */
export async function eraseFacts(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<ForgetReceipt> {
  await forgetQuotes(tx, accountId, ids);
  const wordings = await tx.execute<{ id: string }[]>(
    `select id from facts where account_id = ? and id = any (array[?]::uuid[])
     union all
     select id from facts
      where account_id = ? and superseded_by = any (array[?]::uuid[]) and revision_of = superseded_by`,
    [accountId, ids, accountId, ids],
  );
  const wordingTexts = await readMemoryTexts(tx, accountId, idsOf(wordings));
  await forgetStatements(tx, accountId, ids);
  const { deleted, restored } = await deleteFacts(tx, accountId, ids);
  const texts = wordingTexts?.map(({ text }) => text);
  if (deleted.length > 0) await redactPredictions(tx, accountId, ids, { texts, timeUp: comparisonTimeUp() });
  const none = { deleted: 0, stale: 0 };
  return { forgotten: deleted.length, events_deleted: 0, episodes: none, facts: { ...none, restored } };
}

/** Marks the quotes of facts as forgotten. Deleting the quoted raw row also deletes the mark. */
async function forgetQuotes(tx: EntityManager, accountId: string, ids: readonly string[]): Promise<void> {
  const quotes = {
    account: accountId,
    fromId: { $in: [...ids] },
    relation: DERIVED_FROM,
    quote: { $ne: null },
  };
  await tx.nativeUpdate(MemoryLink, quotes, { relation: FORGOTTEN });
}

/** Keeps a sync from making the raw rows of events again. Returns how many of the events were deleted. */
async function preventReimport(
  tx: EntityManager,
  accountId: string,
  eventIds: readonly string[],
  purge: boolean,
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const tombstones = eventIds.map((id) => ({
    account: accountId,
    eventHash: raw('event_hash(?, ?)', [accountId, id]),
  }));
  await insertNew(tx, MemoryTombstone, tombstones);
  const hashes = eventIds.map((id) => hash('sha256', `${accountId}:${id}`));
  await addErasures(tx, accountId, purge ? 'event' : 'tombstone', hashes);
  if (!purge) return 0;
  const deleted = await tx.execute<{ bytes: number }[]>(
    `delete from recording_events where account_id = ? and id = any (array[?]::text[])
     returning octet_length(body) as bytes`,
    [accountId, eventIds],
  );
  const bytes = deleted.reduce((all, one) => all + one.bytes, 0);
  await tx.nativeUpdate(
    AccountUsage,
    { account: accountId },
    { events: raw('events - ?', [deleted.length]), bytes: raw('bytes - ?', [bytes]) },
  );
  return deleted.length;
}
