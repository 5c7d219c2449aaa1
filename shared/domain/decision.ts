import { COMPLETION_MAX } from '../schemas/limits.ts';
import type { PredictionRequest } from '../schemas/predictions.ts';
import { isDisplayable } from './model-text.ts';
import { normalForm } from './normal-form.ts';

export interface Decision {
  state: 'suggested' | 'abstained';
  /** Empty when abstained. */
  completion: string;
}

/** Whether the mode has nothing to work on: the prediction then abstains without calling the provider. */
export function hasNothingToWorkOn(
  request: Pick<PredictionRequest, 'mode' | 'draft' | 'messages' | 'artifact'>,
): boolean {
  const { mode, draft, messages, artifact } = request;
  if (!isBlank(draft.text)) return false;
  return mode === 'complete_draft' || (messages.length === 0 && artifact === null);
}

/**
 * What a person sees of a model's guess: the completion cut to its maximum length, or nothing. A guess that begins with the
 * draft may have inherited what cannot be displayed safely: that is no fault of the model's, so it abstains.
 */
export function decide(
  guess: { completion: string; confidence: number },
  request: Pick<PredictionRequest, 'draft' | 'messages'>,
  minConfidence: number,
): Decision {
  const completion = cutAtWord(guess.completion);
  const repeats = [request.draft.text, request.messages.at(-1)?.content ?? ''].map(fold);
  const sure = guess.confidence >= minConfidence;
  if (!sure || isBlank(completion) || !isDisplayable(completion) || repeats.includes(fold(guess.completion)))
    return { state: 'abstained', completion: '' };
  return { state: 'suggested', completion };
}

/** Nothing visible: white space, control and formatting characters. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}]/u.test(text);
}

/** Case folding, as far as JavaScript has it: upper case equates ß with ss, lower case the sigmas. */
function fold(text: string): string {
  return normalForm(text.trim(), 'NFC').toUpperCase().toLowerCase();
}

/** At most `COMPLETION_MAX` code points, cut at the end of a word, or inside a single word that is longer. */
function cutAtWord(text: string): string {
  // A code point is at most two units: units further on cannot belong to the result.
  const points = [...text.slice(0, 2 * COMPLETION_MAX + 2)];
  if (points.length <= COMPLETION_MAX) return text;
  const longest = points.slice(0, COMPLETION_MAX).join('');
  const word = WORDS.segment(points.join('')).containing(longest.length);
  return text.slice(0, word?.index || longest.length).trimEnd();
}

/** Unicode word boundaries, which exist in scripts without spaces as well. */
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });
