import type { EntityManager } from '@mikro-orm/postgresql';
import type { Piece } from '../../shared/db/stores/memory/promote-episodes.ts';
import {
  type EpisodeVersion,
  type FoundRow,
  type RowTerms,
  rowsOf,
  rowsToPromote,
  staleEpisodes,
} from '../../shared/db/stores/memory/rows-to-promote.ts';
import { clustersOf, isSettled } from '../../shared/domain/clusters.ts';

export interface PieceTerms extends RowTerms {
  /** Most rows, but that an episode is written anew as a whole. */
  limit: number;
}

/**
 * Work of a promotion now: episodes that lost their text first, then the episodes that are looked at again, then
 * clusters of rows. What a promotion has failed about comes after all others. No row is in two pieces.
 */
export async function piecesToPromote(
  em: EntityManager,
  accountId: string,
  { since, limit, promotedBefore, settledOnly }: PieceTerms,
): Promise<Piece[]> {
  const stale = await staleEpisodes(em, accountId, { limit, settledOnly });
  const first = await piecesOf(
    em,
    accountId,
    stale.filter(({ hasFailed }) => !hasFailed),
    limit,
  );
  const left = limit - rowsIn(first);
  if (left <= 0) return first;

  const found = await rowsToPromote(em, accountId, { since, limit: left + 1, promotedBefore, settledOnly });
  const rows = found.slice(0, left);
  const clusters = [false, true].flatMap((failed) =>
    clustersIn(
      found.filter(({ hasFailed }) => hasFailed === failed),
      found[left],
    ),
  );
  const settled = settledOnly ? clusters.filter((cluster) => isSettled(cluster, Date.now())) : clusters;
  const summarised = rows.filter(({ episode, isSummarised }) => isSummarised && episode === null);
  const pieces: Piece[] = [
    ...first,
    ...(await piecesOf(em, accountId, episodesOf(rows, stale), left)),
    // In parts whose rows are quickly marked.
    ...clustersOf(summarised).map((cluster) => ({ kind: 'summarised', rows: cluster }) as const),
    ...settled.map((cluster) => ({ kind: 'new', rows: cluster }) as const),
  ];
  const failed = new Set(rows.flatMap(({ id, hasFailed }) => (hasFailed ? id : [])));
  const hasFailed = (piece: Piece) => piece.rows.some(({ id }) => failed.has(id));
  return [
    ...pieces.filter((piece) => !hasFailed(piece)),
    ...pieces.filter(hasFailed),
    ...(await piecesOf(
      em,
      accountId,
      stale.filter((episode) => episode.hasFailed),
      limit - rowsIn(pieces),
    )),
  ];
}

function rowsIn(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { rows }) => sum + rows.length, 0);
}

/** The episodes that rows are looked at again in, but those that are written anew anyway. */
function episodesOf(rows: readonly FoundRow[], stale: readonly EpisodeVersion[]): EpisodeVersion[] {
  const episodes = new Map(rows.flatMap(({ episode }) => (episode === null ? [] : [[episode.id, episode]])));
  for (const { id } of stale) episodes.delete(id);
  return [...episodes.values()];
}

/** Episodes with all of their rows, until these are `limit` or more. */
async function piecesOf(
  em: EntityManager,
  accountId: string,
  episodes: readonly EpisodeVersion[],
  limit: number,
): Promise<Piece[]> {
  const pieces: Piece[] = [];
  let count = 0;
  for (const episode of episodes) {
    if (count >= limit) break;
    const rows = await rowsOf(em, accountId, episode.id);
    if (rows.length > 0) pieces.push({ kind: 'again', rows, episode });
    count += rows.length;
  }
  return pieces;
}

/**
 * The clusters of rows that are in no episode. One that goes on beyond the limit is left to the next promotion, unless it
 * is the only one.
 */
function clustersIn(found: readonly FoundRow[], beyond: FoundRow | undefined): FoundRow[][] {
  const clusters = clustersOf(found.filter(({ isSummarised }) => !isSummarised));
  const whole = clusters.filter((rows) => beyond === undefined || !rows.includes(beyond));
  if (whole.length > 0 || beyond === undefined) return whole;
  return clusters.map((rows) => rows.filter((row) => row !== beyond)).filter((rows) => rows.length > 0);
}
