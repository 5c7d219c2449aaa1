import { COMMON } from './common-words.ts';
import { held } from './held.ts';
import { detailsOf } from './similarity.ts';
import { stemOf, wordsOf } from './words.ts';

const CHANGE = /\b(?:now|switch(?:ed)?|moved|changed|gone|migrated|instead|no longer|any ?more|replaced)\b/i;

/**
 * Whether two statements that fill the same slot name the same value: what is left of one, without the words that any
 * statement has and those of the slot, is in the other one. A statement of a change may name the former value anywhere, so
 * there all of it must be the same. When in doubt they differ, and the newer one supersedes.
 */
export function isSameValue(a: string, b: string, slot: string): boolean {
  const topic = new Set(wordsOf(slot).map(stemOf));
  const [one, other] = [valuesIn(a, topic), valuesIn(b, topic)];
  if (one.size === 0 || other.size === 0) return false;
  if (detailsOf(held(a)).symmetricDifference(detailsOf(held(b))).size > 0) return false;
  if (CHANGE.test(a) || CHANGE.test(b)) return one.symmetricDifference(other).size === 0;
  return one.isSubsetOf(other) || other.isSubsetOf(one);
}

function valuesIn(text: string, topic: ReadonlySet<string>): Set<string> {
  const words = wordsOf(held(text)).filter((word) => !COMMON.has(word));
  return new Set(words.filter((word) => !topic.has(stemOf(word))));
}
