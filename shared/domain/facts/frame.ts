import { COMMON, NEGATIONS } from './common-words.ts';
import { stemOf, wordsOf } from './words.ts';

/** Words of a value, in a frame of other words. */
const VALUE_MAX = 3;
/** What is said to hold beside something else. */
const BESIDE = /\b(?:also|too|as well|besides|both|sometimes|in addition)\b/i;

/**
 * Whether two statements differ in nothing but the value that they give to a slot: `Uses npm as package manager` and `Uses
 * pnpm as package manager`, of `tool.package_manager`. Some of the words that they share must name the slot; else
 * `Likes tea` would be another value of what `Likes climbing` settles.
 */
export function isOtherValue(a: string, b: string, slot: string): boolean {
  if (BESIDE.test(a) || BESIDE.test(b)) return false;
  const [one, other] = [wordsOf(a), wordsOf(b)];
  const start = countSame(one, other);
  const end = countSame(one.slice(start).toReversed(), other.slice(start).toReversed());
  const values = [one, other].map((words) => words.slice(start, words.length - end));
  const isValue = (words: readonly string[]) =>
    words.length > 0 &&
    words.length <= VALUE_MAX &&
    !words.some((word) => NEGATIONS.has(word)) &&
    words.some((word) => !COMMON.has(word));
  if (!values.every(isValue)) return false;
  const frame = new Set([...one.slice(0, start), ...one.slice(one.length - end)].map(stemOf));
  const named = wordsOf(slot.slice(slot.lastIndexOf('.') + 1).replaceAll('_', ' '));
  return named.length > 0 && named.every((word) => frame.has(stemOf(word)));
}

/** How many words are the same from the first one on. */
function countSame(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((word, at) => word !== other[at]);
  return differs < 0 ? one.length : differs;
}
