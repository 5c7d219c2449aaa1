import { concernedBy, type Piece, storePiece } from '../../shared/db/stores/memory/promote-episodes.ts';
import { countSetAside } from '../../shared/db/stores/memory/rows-to-promote.ts';
import { type EpisodeDraft, extractiveDraft } from '../../shared/domain/episodes.ts';
import { promoteEpisodes } from '../../shared/work/kinds.ts';
import { NO_USAGE, type ProviderError, type Usage } from '../providers/provider.ts';
import type { Handler } from '../work/handler.ts';
import { episodeQuestion, readEpisode } from './episode-prompt.ts';
import { piecesToPromote } from './pieces.ts';
import { Promotion, type PromotionParts, type PromotionProgress, type PromotionSteps } from './promotion.ts';

/**
 * Summarises raw rows in episodes: cuts them into clusters, and asks the model once for each. Each episode is one
 * transaction with the progress, so that a later attempt goes on where this one ended.
 */
export function createPromoteEpisodes(parts: PromotionParts): Handler<typeof promoteEpisodes> {
  return async (claim, allowance) => {
    const promotion = await Promotion.open({ ...parts, claim, allowance });
    return promotion.perform(promoteEpisodes, new EpisodeSteps(promotion));
  };
}

class EpisodeSteps implements PromotionSteps<Piece> {
  readonly #promotion: Promotion;
  hasChanged = false;

  constructor(promotion: Promotion) {
    this.#promotion = promotion;
  }

  async find(): Promise<Piece[]> {
    this.hasChanged = false;
    const { accountId, choice, left } = this.#promotion;
    const pieces =
      left > 0 ? await piecesToPromote(this.#promotion.em(), accountId, { ...choice, limit: left }) : [];
    this.#promotion.expect(pieces.length);
    return pieces;
  }

  async promote(piece: Piece): Promise<boolean> {
    const { accountId, choice } = this.#promotion;
    const { draft, usage } = await writeEpisode(piece, this.#promotion);
    const isStored = await this.#promotion.store(usage, (keep) =>
      storePiece(this.#promotion.em(), accountId, piece, draft, {
        promotedBefore: choice.promotedBefore,
        within: (tx, id) => keep(tx, (progress) => advanced(progress, piece, id)),
      }),
    );
    if (!isStored) this.hasChanged = true;
    return piece.kind !== 'summarised';
  }

  /** The halves of a cluster; an episode is written anew as a whole. */
  partsOf(piece: Piece): Piece[] {
    if (piece.kind !== 'new' || piece.rows.length === 1) return [piece];
    const middle = Math.floor(piece.rows.length / 2);
    return [piece.rows.slice(0, middle), piece.rows.slice(middle)].map((rows) => ({ kind: 'new', rows }));
  }

  setAside(piece: Piece, failure: ProviderError): Promise<void> {
    return this.#promotion.setAside(concernedBy(piece), failure);
  }

  countSetAside(): Promise<number> {
    const { accountId, choice, left } = this.#promotion;
    return countSetAside(this.#promotion.em(), accountId, { ...choice, limit: left });
  }
}

/**
 * Has a model summarise a piece, or extracts from it what the person said where there is none. A refusal, an answer that
 * rests on none of the rows, and rows that say nothing make no draft, and so no episode; one that lost its text gets an
 * extract then.
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

/** The counts once a piece is stored, as the episode of that id, or as none. */
function advanced(
  { steps, considered, created, updated, skipped, ids }: PromotionProgress,
  { rows, kind }: Piece,
  id: string | undefined,
): Partial<PromotionProgress> {
  return {
    // Parts of a cluster that failed count each.
    steps: { done: steps.done + 1, total: Math.max(steps.total, steps.done + 1) },
    considered: considered + rows.length,
    created: created + Number(id !== undefined && kind === 'new'),
    updated: updated + Number(id !== undefined && kind === 'again'),
    skipped: skipped + (id === undefined ? rows.length : 0),
    ids: id === undefined ? ids : [...ids, id],
  };
}
