import { isDisplayable } from '../../shared/domain/model-text.ts';
import { COMPLETION_MAX } from '../../shared/schemas/limits.ts';
import type { PredictionRequest } from '../../shared/schemas/predictions.ts';
import { codePointsIn } from '../../shared/text/cut.ts';
import { normalForm } from '../../shared/text/words.ts';
import type { Guess } from '../providers/provider.ts';
import { WORD_SEGMENTER } from './joined-text.ts';

/** Length of an alternative, in code points. All of them must fit into a header. */
const ALTERNATIVE_MAX = 200;

/**
 * Decides whether a guess is shown, and cuts it to `COMPLETION_MAX`. Abstains on a guess with undisplayable characters
 * instead of throwing, because these characters may come from the draft.
 */
export function decideCompletion(
  guess: Pick<Guess, 'completion' | 'confidence' | 'alternatives'>,
  request: Pick<PredictionRequest, 'draft' | 'messages'>,
  minConfidence: number,
  isRefused: (text: string) => boolean = () => false,
): { state: 'suggested' | 'abstained'; completion: string; alternatives: string[] } {
  const completion = cutAtWord(guess.completion);
  const shownTexts = [request.draft.text, request.messages.at(-1)?.content ?? ''].map(foldCase);
  const isSure = guess.confidence >= minConfidence;
  if (
    !isSure ||
    isBlank(completion) ||
    !isDisplayable(completion) ||
    shownTexts.includes(foldCase(guess.completion)) ||
    (completion !== guess.completion && request.draft.text.startsWith(completion)) ||
    isRefused(completion)
  )
    return { state: 'abstained', completion: '', alternatives: [] };
  const alternatives = (guess.alternatives ?? []).filter(
    (text) =>
      codePointsIn(text) <= ALTERNATIVE_MAX &&
      !isBlank(text) &&
      isDisplayable(text) &&
      !shownTexts.includes(foldCase(text)) &&
      text !== completion &&
      !isRefused(text),
  );
  return { state: 'suggested', completion, alternatives };
}

/** Treats control and formatting characters as blank. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}]/u.test(text);
}

/** Upper case makes ß and ss equal, and the forms of sigma (σ, ς). Lower case makes ϴ and Θ equal. */
function foldCase(text: string): string {
  return normalForm(text.trim(), 'NFC').toUpperCase().toLowerCase();
}

/** Cuts at the end of a word if possible. The limit counts code points. */
function cutAtWord(text: string): string {
  // A code point has at most two UTF-16 units, so these units suffice.
  const points = [...text.slice(0, 2 * COMPLETION_MAX + 2)];
  if (points.length <= COMPLETION_MAX) return text;
  const longest = points.slice(0, COMPLETION_MAX).join('');
  const word = WORD_SEGMENTER.segment(points.join('')).containing(longest.length);
  return text.slice(0, word?.index || longest.length).trimEnd();
}

/** Returns true if the request has too little input, for its mode, to ask a model. */
export function hasNothingToWorkOn(
  request: Pick<PredictionRequest, 'mode' | 'draft' | 'messages' | 'artifact'>,
): boolean {
  const { mode, draft, messages, artifact } = request;
  if (!isBlank(draft.text)) return false;
  return mode === 'complete_draft' || (messages.length === 0 && artifact === null);
}
