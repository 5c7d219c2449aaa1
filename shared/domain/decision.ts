import { COMPLETION_MAX } from '../schemas/limits.ts';
import type { PredictionRequest } from '../schemas/predictions.ts';

export interface Decision {
  state: 'suggested' | 'abstained';
  /** Empty when abstained. */
  completion: string;
}

/** Whether the mode has nothing to work on: the provider is then not called, the prediction abstains. */
export function hasNothingToWorkOn(
  request: Pick<PredictionRequest, 'mode' | 'draft' | 'messages' | 'artifact'>,
): boolean {
  const { mode, draft, messages, artifact } = request;
  if (!isBlank(draft.text)) return false;
  return mode === 'complete_draft' || (messages.length === 0 && artifact === null);
}

/** What a person gets to see of a model's guess: the completion cut to its greatest length, or nothing. */
export function decide(
  guess: { completion: string; confidence: number },
  request: Pick<PredictionRequest, 'draft' | 'messages'>,
  minConfidence: number,
): Decision {
  const completion = cutAtWord(guess.completion);
  const repeats = [request.draft.text, request.messages.at(-1)?.content ?? ''].map(fold);
  const sure = guess.confidence >= minConfidence;
  if (!sure || isBlank(completion) || repeats.includes(fold(guess.completion)))
    return { state: 'abstained', completion: '' };
  return { state: 'suggested', completion };
}

/** Nothing to be seen: white space, control and formatting characters. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}]/u.test(text);
}

/** Case folding, as far as the language has it: upper case joins ß and ss, lower case the sigmas. */
function fold(text: string): string {
  return text.trim().normalize('NFC').toUpperCase().toLowerCase();
}

/** At most `COMPLETION_MAX` code points, cut at the end of a word; inside it where a single word is longer. */
function cutAtWord(text: string): string {
  // A code point is at most two units: further ones cannot belong to the beginning that counts.
  const points = [...text.slice(0, 2 * COMPLETION_MAX + 2)];
  if (points.length <= COMPLETION_MAX) return text;
  const longest = points.slice(0, COMPLETION_MAX).join('');
  const word = WORDS.segment(points.join('')).containing(longest.length);
  return text.slice(0, word?.index || longest.length).trimEnd();
}

/** Word boundaries of Unicode: they exist in scripts without spaces as well. */
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });
