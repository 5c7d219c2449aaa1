import type { Piece } from '../../shared/db/stores/memory/promote-episodes.ts';
import { type EpisodeDraft, extractiveDraft } from '../../shared/domain/episodes.ts';
import { episodeQuestion, readEpisode } from '../prompts/episode.ts';
import type { Charge, Usage } from '../providers/provider.ts';
import type { Allowance } from '../work/handler.ts';
import { answerMs } from './ask.ts';
import { NO_USAGE, type PromotionParts } from './promotion.ts';

/** What was made of a piece. Without a draft it becomes no episode. */
export interface Written {
  draft: EpisodeDraft | undefined;
  usage: Usage;
}

/**
 * Has a model summarise a piece, or extracts from it what the person said where there is none. A refusal, an answer that
 * rests on none of the rows, and rows that say nothing make no episode; one that lost its text gets an extract then.
 */
export async function writeEpisode(
  piece: Piece,
  model: string,
  { providerOf, settings }: PromotionParts,
  charge: Charge,
  allowance: Allowance,
): Promise<Written> {
  const { ask } = providerOf(model);
  const { rows } = piece;
  if (piece.kind === 'summarised') return { draft: undefined, usage: NO_USAGE };
  const extract = extractiveDraft(rows);
  if (ask === null || extract === undefined) return { draft: extract, usage: NO_USAGE };
  const question = episodeQuestion(rows);
  const timeoutMs = answerMs(allowance, settings.providerTimeoutMs);
  const answer = await ask(question, { model, charge, signal: allowance.signal, timeoutMs });
  const text = answer.state === 'answered' ? readEpisode(answer.value, rows) : undefined;
  if (text !== undefined)
    return { draft: { ...text, origin: 'model', model: answer.model }, usage: answer.usage };
  const isStale = piece.kind === 'again' && piece.episode.isStale;
  return { draft: isStale ? extract : undefined, usage: answer.usage };
}
