import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { EpisodeDraft, RawToPromote } from '../../../domain/episodes.ts';
import { idsOf, newId } from '../../../ids.ts';
import { Episode, MemoryLink, RawMemory } from '../../entities/memory.ts';
import { MemoryChanged } from './change.ts';
import { DERIVED_FROM } from './links.ts';
import type { EpisodeVersion } from './rows-to-promote.ts';
import { type AffectedRows, clearFailures } from './set-aside.ts';

export type Piece = { rows: readonly RawToPromote[] } & (
  | { kind: 'new' }
  /** All raw rows of an existing episode, which is rewritten from them. */
  | { kind: 'again'; episode: EpisodeVersion }
  /** Raw rows that already belong to an episode. They are only marked as processed. */
  | { kind: 'summarised' }
);

/**
 * Stores the draft of an episode with its links, and marks the piece's rows as processed, in a transaction of
 * `changeMemory`. Returns the episode's id; without a draft, only marks the rows. Throws `MemoryChanged` if the rows or
 * the episode have changed meanwhile. `promotedBefore`: see `RowFilter`.
 */
export async function storePiece(
  tx: EntityManager,
  accountId: string,
  piece: Piece,
  draft: EpisodeDraft | undefined,
  promotedBefore: string | undefined,
): Promise<string | undefined> {
  // The lock on the account keeps the piece unchanged until the transaction ends.
  const isAsRead =
    piece.kind === 'again'
      ? isUnchanged(tx, accountId, piece, piece.episode)
      : isUnpromoted(tx, accountId, piece, promotedBefore);
  if (!(await isAsRead)) throw new MemoryChanged();
  const id = draft && (await storeEpisode(tx, accountId, piece, draft));
  await markProcessed(tx, accountId, piece, promotedBefore);
  await clearFailures(tx, accountId, affectedRowsOf(piece));
  return id;
}

/**
 * Returns the rows in which a failed promotion of a piece is counted. An episode counts it only while stale; at other
 * times its `failures` are failed promotions of the episode to facts.
 */
export function affectedRowsOf(piece: Piece): AffectedRows {
  const rows = { raw: idsOf(piece.rows) };
  return piece.kind === 'again' && piece.episode.isStale ? { ...rows, episodes: [piece.episode.id] } : rows;
}

/**
 * Marks the piece's rows as processed. If an episode is rewritten, rows that a client has added to it stay unmarked.
 * They are marked later, in pieces of kind `summarised`.
 */
async function markProcessed(
  tx: EntityManager,
  accountId: string,
  piece: Piece,
  promotedBefore: string | undefined,
): Promise<void> {
  const before = { promotedAt: { $lt: raw('?::timestamptz', [promotedBefore ?? null]) } };
  const unpromoted = piece.kind === 'again' ? [] : [{ promotedAt: null }];
  await tx.nativeUpdate(
    RawMemory,
    { account: accountId, id: { $in: idsOf(piece.rows) }, $or: [before, ...unpromoted] },
    { promotedAt: raw('now()') },
  );
}

async function isUnpromoted(
  tx: EntityManager,
  accountId: string,
  piece: Piece,
  promotedBefore: string | undefined,
): Promise<boolean> {
  const [{ left } = { left: 0 }] = await tx.execute<{ left: number }[]>(
    `select count(*)::int as left from raw_memories r
      where r.account_id = ? and r.id = any (array[?]::uuid[])
        and (r.promoted_at is null or r.promoted_at < ?::timestamptz)
        and (? or not exists (
          select from memory_links l where l.account_id = r.account_id and l.to_id = r.id and l.from_tier = 'episode'))`,
    [accountId, idsOf(piece.rows), promotedBefore ?? null, piece.kind === 'summarised'],
  );
  return left === piece.rows.length;
}

/** Reports whether the episode is unchanged, and derived from exactly these rows. */
async function isUnchanged(
  tx: EntityManager,
  accountId: string,
  piece: Piece,
  { id, version }: EpisodeVersion,
): Promise<boolean> {
  const sources = await tx.execute<{ id: string }[]>(
    `select l.to_id as id from episodes e join memory_links l on l.account_id = e.account_id and l.from_id = e.id
      where e.account_id = ? and e.id = ? and extract(epoch from e.updated_at)::text = ? and l.to_tier = 'raw'`,
    [accountId, id, version],
  );
  const presentIds = new Set(idsOf(sources));
  return presentIds.size === piece.rows.length && piece.rows.every((row) => presentIds.has(row.id));
}

async function storeEpisode(
  tx: EntityManager,
  account: string,
  piece: Piece,
  draft: EpisodeDraft,
): Promise<string> {
  const now = new Date();
  const times = piece.rows.map(({ occurredAt }) => occurredAt.getTime());
  const span = { startedAt: new Date(Math.min(...times)), endedAt: new Date(Math.max(...times)) };
  if (piece.kind === 'again') {
    const { id } = piece.episode;
    await tx.nativeUpdate(Episode, { id, account }, { ...draft, ...span, staleAt: null, updatedAt: now });
    return id;
  }
  const id = newId();
  const project = piece.rows[0]?.project ?? null;
  await tx.insert(Episode, { id, account, ...draft, ...span, project, createdAt: now, updatedAt: now });
  const link = { account, fromId: id, relation: DERIVED_FROM, fromTier: 'episode', toTier: 'raw' };
  const links = piece.rows.map((row) => ({ ...link, toId: row.id }));
  await tx.insertMany(MemoryLink, links);
  return id;
}
