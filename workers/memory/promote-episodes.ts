import type { EntityManager } from '@mikro-orm/postgresql';
import { changeMemory } from '../../shared/db/stores/memory/change.ts';
import { affectedRowsOf, type Piece, storePiece } from '../../shared/db/stores/memory/promote-episodes.ts';
import {
  countSetAside,
  type EpisodeVersion,
  type RowFilter,
  type RowToPromote,
  readSourceRows,
  rowsToPromote,
  staleEpisodes,
} from '../../shared/db/stores/memory/rows-to-promote.ts';
import { clustersOf, isSettled } from '../../shared/domain/clusters.ts';
import { type EpisodeDraft, extractiveDraft } from '../../shared/domain/episodes.ts';
import { promoteEpisodes } from '../../shared/work/kinds.ts';
import { NO_USAGE, type ProviderError, type Usage } from '../providers/provider.ts';
import type { Handler } from '../work/handler.ts';
import { episodeQuestion, readEpisode } from './episode-prompt.ts';
import {
  Promotion,
  type PromotionDependencies,
  type PromotionProgress,
  type PromotionSteps,
} from './promotion.ts';
import { findWholeClusters, firstThatFit } from './whole-clusters.ts';

/**
 * Each episode is stored in one transaction with the progress, so that a later attempt continues where this attempt
 * ended.
 */
export function createPromoteEpisodesHandler(
  dependencies: PromotionDependencies,
): Handler<typeof promoteEpisodes> {
  return async (claim, context) => {
    const promotion = await Promotion.open({ ...dependencies, claim, context });
    return promotion.perform(promoteEpisodes, new EpisodeSteps(promotion));
  };
}

class EpisodeSteps implements PromotionSteps<Piece> {
  readonly #promotion: Promotion;
  hasChanged = false;

  constructor(promotion: Promotion) {
    this.#promotion = promotion;
  }

  async findPieces(): Promise<Piece[]> {
    this.hasChanged = false;
    const { accountId, selection, left } = this.#promotion;
    const pieces =
      left > 0 ? await piecesToPromote(this.#promotion.em(), accountId, { ...selection, limit: left }) : [];
    this.#promotion.expectSteps(pieces.length);
    return pieces;
  }

  async promote(piece: Piece): Promise<boolean> {
    const { accountId, selection } = this.#promotion;
    const { draft, usage } = await writeEpisode(piece, this.#promotion);
    const store = async (tx: EntityManager) => {
      const progress = await this.#promotion.begin(tx);
      const id = await storePiece(tx, accountId, piece, draft, selection.promotedBefore);
      await this.#promotion.keep(tx, progressAfter(progress, piece, id));
    };
    const counts = draft !== undefined;
    const isStored = await this.#promotion.store(usage, () =>
      changeMemory(this.#promotion.em(), accountId, store, { counts }),
    );
    if (!isStored) this.hasChanged = true;
    return piece.kind !== 'summarised';
  }

  /** Halves a cluster. An episode is not split, since it is rewritten as a whole. */
  split(piece: Piece): Piece[] {
    if (piece.kind !== 'new' || piece.rows.length === 1) return [piece];
    const middle = Math.floor(piece.rows.length / 2);
    return [piece.rows.slice(0, middle), piece.rows.slice(middle)].map((rows) => ({ kind: 'new', rows }));
  }

  setAside(piece: Piece, failure: ProviderError): Promise<void> {
    return this.#promotion.setAside(affectedRowsOf(piece), failure);
  }

  countSetAside(): Promise<number> {
    const { accountId, selection, left } = this.#promotion;
    return countSetAside(this.#promotion.em(), accountId, { ...selection, limit: left });
  }
}

interface PieceFilter extends RowFilter {
  /** Maximum number of rows. The last episode may exceed it, since an episode is rewritten as a whole. */
  limit: number;
}

/**
 * Returns episodes whose text was erased, then episodes whose rows are promoted again, then clusters of rows. Pieces
 * that failed in an earlier promotion come last.
 */
async function piecesToPromote(
  em: EntityManager,
  accountId: string,
  { since, limit, promotedBefore, settledOnly }: PieceFilter,
): Promise<Piece[]> {
  const stale = await staleEpisodes(em, accountId, { limit, settledOnly });
  const firstPieces = await piecesOf(
    em,
    accountId,
    stale.filter(({ hasFailed }) => !hasFailed),
    limit,
  );
  const left = limit - countRows(firstPieces);
  if (left <= 0) return firstPieces;

  const found = await findClusters(em, accountId, { since, limit: left, promotedBefore, settledOnly });
  const fitting = firstThatFit(found, left);
  // Cuts a cluster if there is nothing else, so that a cluster of more than `limit` rows is promoted at all.
  const isCut = fitting.length === 0 && firstPieces.length === 0;
  const clusters = isCut ? found.slice(0, 1).map((cluster) => cluster.slice(0, left)) : fitting;
  const rows = clusters.flat();
  const summarisedRows = rows.filter(({ episode, isSummarised }) => isSummarised && episode === null);
  const pieces: Piece[] = [
    ...firstPieces,
    ...(await piecesOf(em, accountId, episodesOf(rows, stale), left)),
    // Rows that an episode already covers are only marked as promoted.
    ...clustersOf(summarisedRows).map((cluster) => ({ kind: 'summarised', rows: cluster }) as const),
    ...clusters
      .filter(([row]) => row?.isSummarised === false)
      .map((cluster) => ({ kind: 'new', rows: cluster }) as const),
  ];
  const failedIds = new Set(rows.flatMap(({ id, hasFailed }) => (hasFailed ? id : [])));
  const hasFailed = (piece: Piece) => piece.rows.some(({ id }) => failedIds.has(id));
  return [
    ...pieces.filter((piece) => !hasFailed(piece)),
    ...pieces.filter(hasFailed),
    ...(await piecesOf(
      em,
      accountId,
      stale.filter((episode) => episode.hasFailed),
      limit - countRows(pieces),
    )),
  ];
}

/** Finds clusters of at least `limit` rows, unless there are fewer. Those that failed before come last. */
async function findClusters(
  em: EntityManager,
  accountId: string,
  filter: RowFilter,
): Promise<RowToPromote[][]> {
  const { limit, settledOnly } = filter;
  const find = (hasFailed: boolean) =>
    findWholeClusters<RowToPromote>({
      readAfter: (after, count) =>
        rowsToPromote(em, accountId, { ...filter, limit: count, hasFailed, after }),
      isWanted: (cluster) => !settledOnly || isSettled(cluster, Date.now()),
      minRows: limit,
    });
  const found = await find(false);
  return found.flat().length < limit ? [...found, ...(await find(true))] : found;
}

function countRows(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { rows }) => sum + rows.length, 0);
}

/** Leaves out stale episodes, which are rewritten anyway. */
function episodesOf(rows: readonly RowToPromote[], stale: readonly EpisodeVersion[]): EpisodeVersion[] {
  const episodes = new Map(rows.flatMap(({ episode }) => (episode === null ? [] : [[episode.id, episode]])));
  for (const { id } of stale) episodes.delete(id);
  return [...episodes.values()];
}

/** Reads the first episodes with all their rows, until there are `limit` rows or more. */
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
    const rows = await readSourceRows(em, accountId, episode.id);
    if (rows.length > 0) pieces.push({ kind: 'again', rows, episode });
    count += rows.length;
  }
  return pieces;
}

/**
 * Without a model, the draft is an extract of the rows. If the model's answer is not usable, only a stale episode gets
 * an extract.
 */
async function writeEpisode(
  piece: Piece,
  { ask }: Promotion,
): Promise<{ draft: EpisodeDraft | undefined; usage: Usage }> {
  const { rows } = piece;
  if (piece.kind === 'summarised') return { draft: undefined, usage: NO_USAGE };
  const extract = extractiveDraft(rows);
  if (ask === null || extract === undefined) return { draft: extract, usage: NO_USAGE };
  const answer = await ask(episodeQuestion(rows));
  const text = answer.state === 'answered' ? readEpisode(answer.value, rows) : undefined;
  if (text !== undefined)
    return { draft: { ...text, origin: 'model', model: answer.model }, usage: answer.usage };
  const isStale = piece.kind === 'again' && piece.episode.isStale;
  return { draft: isStale ? extract : undefined, usage: answer.usage };
}

/** `id` is undefined if the piece yielded no episode. */
function progressAfter(
  { steps, considered, created, updated, skipped, ids }: PromotionProgress,
  { rows, kind }: Piece,
  id: string | undefined,
): Partial<PromotionProgress> {
  return {
    // The halves of a failed cluster are two steps, so there may be more steps than were expected.
    steps: { done: steps.done + 1, total: Math.max(steps.total, steps.done + 1) },
    considered: considered + rows.length,
    created: created + Number(id !== undefined && kind === 'new'),
    updated: updated + Number(id !== undefined && kind === 'again'),
    skipped: skipped + (id === undefined ? rows.length : 0),
    ids: id === undefined ? ids : [...ids, id],
  };
}
