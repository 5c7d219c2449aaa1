import type { EntityManager } from '@mikro-orm/postgresql';
import type { Piece } from '../../shared/db/stores/memory/promote-episodes.ts';
import {
  type EpisodeVersion,
  type FoundRow,
  rowsOf,
  rowsToPromote,
  staleEpisodes,
} from '../../shared/db/stores/memory/rows-to-promote.ts';
import { clustersOf, isSettled } from '../../shared/domain/clusters.ts';

export interface PieceTerms {
  since: string | undefined;
  /** Most rows, but that an episode is written anew as a whole. */
  limit: number;
  promotedBefore: string | undefined;
  settledOnly: boolean;
}

/**
 * What a promotion has to do now: episodes that lost their text first, then the episodes that are looked at again, then
 * clusters of rows. No row is in two pieces.
 */
export async function piecesToPromote(
  em: EntityManager,
  accountId: string,
  { since, limit, promotedBefore, settledOnly }: PieceTerms,
): Promise<Piece[]> {
  const stale = await staleEpisodes(em, accountId, limit);
  const pieces = await piecesOf(em, accountId, stale, limit);
  const left = limit - pieces.reduce((sum, { rows }) => sum + rows.length, 0);
  if (left <= 0) return pieces;

  const found = await rowsToPromote(em, accountId, { since, limit: left + 1, promotedBefore });
  const rows = found.slice(0, left);
  const clusters = clustersIn(found, left);
  const settled = settledOnly ? clusters.filter((cluster) => isSettled(cluster, Date.now())) : clusters;
  const summarised = rows.filter(({ episode, isSummarised }) => isSummarised && episode === null);
  return [
    ...pieces,
    ...(await piecesOf(em, accountId, episodesOf(rows, stale), left)),
    // In parts whose rows are quickly marked.
    ...clustersOf(summarised).map((cluster) => ({ kind: 'summarised', rows: cluster }) as const),
    ...settled.map((cluster) => ({ kind: 'new', rows: cluster }) as const),
  ];
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
function clustersIn(found: readonly FoundRow[], limit: number): FoundRow[][] {
  const beyond = found[limit];
  const clusters = clustersOf(found.filter(({ isSummarised }) => !isSummarised));
  const whole = clusters.filter((rows) => beyond === undefined || !rows.includes(beyond));
  if (whole.length > 0 || beyond === undefined) return whole;
  return clusters.map((rows) => rows.filter((row) => row !== beyond)).filter((rows) => rows.length > 0);
}
