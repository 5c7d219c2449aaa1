import type { EntityManager } from '@mikro-orm/postgresql';
import type { EpisodeDraft, RawToPromote } from '../../../domain/episodes.ts';
import { newId } from '../../../ids.ts';
import { Episode } from '../../entities/memory.ts';
import { changeMemory } from './change.ts';
import { setSources } from './links.ts';
import type { EpisodeVersion } from './rows-to-promote.ts';
import { type Concerned, clearFailures } from './set-aside.ts';

/** Rows that are promoted together. */
export type Piece = { rows: readonly RawToPromote[] } & (
  | { kind: 'new' }
  /** All rows of an episode, which is written anew. */
  | { kind: 'again'; episode: EpisodeVersion }
  /** Rows that are in an episode already. */
  | { kind: 'summarised' }
);

/** Thrown when somebody changed what a piece was made of while a model wrote about it. */
class PieceChanged extends Error {
  override readonly name = 'PieceChanged';
}

interface Terms {
  /** See `RowTerms`. */
  promotedBefore: string | undefined;
  /** Runs in the same transaction, with the episode's id; undefined when there is none. */
  within: (tx: EntityManager, id: string | undefined) => Promise<void>;
}

/**
 * Stores what was made of a piece, in one transaction with its links and the mark that its rows were looked at. Without a
 * draft only that mark. Stores nothing and resolves with false when a row was deleted or promoted meanwhile, or the
 * episode changed. Throws `not_authenticated` when the account is gone or being erased.
 */
export async function storePiece(
  em: EntityManager,
  accountId: string,
  piece: Piece,
  draft: EpisodeDraft | undefined,
  { promotedBefore, within }: Terms,
): Promise<boolean> {
  const added = newId();
  try {
    await changeMemory(em, accountId, async (tx) => {
      if (!(await isAsItWas(tx, accountId, piece, promotedBefore))) throw new PieceChanged();
      const id = piece.kind === 'again' ? piece.episode.id : added;
      if (draft !== undefined) await write(tx, accountId, id, piece, draft);
      await mark(tx, accountId, piece, promotedBefore);
      await clearFailures(tx, accountId, concernedBy(piece));
      await within(tx, draft && id);
    });
    return true;
  } catch (error) {
    if (error instanceof PieceChanged) return false;
    throw error;
  }
}

/** The rows that a failure about a piece is noted on. Facts are not made of stale episodes: their failures are these. */
export function concernedBy(piece: Piece): Concerned {
  const raw = { raw_memories: piece.rows.map(({ id }) => id) };
  return piece.kind === 'again' && piece.episode.isStale ? { ...raw, episodes: [piece.episode.id] } : raw;
}

/**
 * Marks rows as looked at. Those of an episode that is written anew are marked already, unless a client put them there:
 * then they are marked as summarised, in smaller parts.
 */
async function mark(
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

/** Runs under the account's lock: nobody changes its memory until the transaction has ended. */
async function isAsItWas(
  tx: EntityManager,
  accountId: string,
  piece: Piece,
  promotedBefore: string | undefined,
): Promise<boolean> {
  return piece.kind === 'again'
    ? isUnchanged(tx, accountId, piece, piece.episode)
    : isUnpromoted(tx, accountId, piece, promotedBefore);
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

/** Reports whether the episode is the same, and derived from exactly these rows. */
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
  const present = new Set(sources.map((source) => source.id));
  return present.size === piece.rows.length && piece.rows.every((row) => present.has(row.id));
}

async function write(
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
