import type { EntityManager } from '@mikro-orm/postgresql';
import type { EpisodeDraft, RawToPromote } from '../../../domain/episodes.ts';
import { newId } from '../../../ids.ts';
import { Episode } from '../../entities/memory.ts';
import { changeMemory } from './change.ts';
import { setSources } from './links.ts';
import type { EpisodeVersion } from './rows-to-promote.ts';
import { type AffectedRows, clearFailures } from './set-aside.ts';

export type Piece = { rows: readonly RawToPromote[] } & (
  | { kind: 'new' }
  /** All raw rows of an existing episode, which is rewritten from them. */
  | { kind: 'again'; episode: EpisodeVersion }
  /** Raw rows that already belong to an episode. They are only marked as processed. */
  | { kind: 'summarised' }
);

/** Thrown if a piece's rows or its episode have changed since they were read. */
class PieceChanged extends Error {
  override readonly name = 'PieceChanged';
}

interface PieceOptions {
  /** See `RowFilter`. */
  promotedBefore: string | undefined;
  /** Called in the same transaction, with the id of the stored episode; undefined without a draft. */
  inTransaction: (tx: EntityManager, id: string | undefined) => Promise<void>;
}

/**
 * Stores the draft of an episode with its links, and marks the piece's rows as processed, in one transaction. Without a
 * draft, only marks the rows. Returns false, and stores nothing, if the rows or the episode have changed meanwhile.
 * Throws the errors of `changeMemory`.
 */
export async function storePiece(
  em: EntityManager,
  accountId: string,
  piece: Piece,
  draft: EpisodeDraft | undefined,
  { promotedBefore, inTransaction }: PieceOptions,
): Promise<boolean> {
  const newEpisodeId = newId();
  try {
    await changeMemory(
      em,
      accountId,
      async (tx) => {
        // The lock on the account keeps the piece unchanged until the transaction ends.
        const isAsRead =
          piece.kind === 'again'
            ? isUnchanged(tx, accountId, piece, piece.episode)
            : isUnpromoted(tx, accountId, piece, promotedBefore);
        if (!(await isAsRead)) throw new PieceChanged();
        const id = piece.kind === 'again' ? piece.episode.id : newEpisodeId;
        if (draft !== undefined) await storeEpisode(tx, accountId, id, piece, draft);
        await markProcessed(tx, accountId, piece, promotedBefore);
        await clearFailures(tx, accountId, affectedRowsOf(piece));
        await inTransaction(tx, draft && id);
      },
      { counts: draft !== undefined },
    );
    return true;
  } catch (error) {
    if (error instanceof PieceChanged) return false;
    throw error;
  }
}

/**
 * Returns the rows in which a failed promotion of a piece is counted. An episode counts it only while stale; at other
 * times its `failures` are failed promotions of the episode to facts.
 */
export function affectedRowsOf(piece: Piece): AffectedRows {
  const raw = { raw_memories: piece.rows.map(({ id }) => id) };
  return piece.kind === 'again' && piece.episode.isStale ? { ...raw, episodes: [piece.episode.id] } : raw;
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
  await tx.execute(
    `update raw_memories set promoted_at = now()
      where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)
        and (promoted_at < ?::timestamptz or (? and promoted_at is null))`,
    [accountId, idsOf(piece), promotedBefore ?? null, piece.kind !== 'again'],
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
      where r.account_id = ? and r.id in (select json_array_elements_text(?::json)::uuid)
        and (r.promoted_at is null or r.promoted_at < ?::timestamptz)
        and (? or not exists (
          select from memory_links l where l.account_id = r.account_id and l.to_id = r.id and l.from_tier = 'episode'))`,
    [accountId, idsOf(piece), promotedBefore ?? null, piece.kind === 'summarised'],
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
  const presentIds = new Set(sources.map((source) => source.id));
  return presentIds.size === piece.rows.length && piece.rows.every((row) => presentIds.has(row.id));
}

async function storeEpisode(
  tx: EntityManager,
  accountId: string,
  id: string,
  { rows, kind }: Piece,
  draft: EpisodeDraft,
): Promise<void> {
  const now = new Date();
  const times = rows.map(({ occurredAt }) => occurredAt.getTime());
  const span = { startedAt: new Date(Math.min(...times)), endedAt: new Date(Math.max(...times)) };
  if (kind === 'again') {
    const row = await tx.findOneOrFail(Episode, { id, account: accountId });
    tx.assign(row, { ...draft, ...span, staleAt: null, updatedAt: now });
    await tx.flush();
    return;
  }
  const dates = { createdAt: now, updatedAt: now };
  tx.create(Episode, { id, account: accountId, ...draft, ...span, ...dates });
  await tx.flush();
  await setSources(tx, accountId, { from: 'episode', to: 'raw' }, [
    { row: { id }, sources: rows.map((row) => row.id) },
  ]);
}

function idsOf({ rows }: Piece): string {
  return JSON.stringify(rows.map(({ id }) => id));
}
