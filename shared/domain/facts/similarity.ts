import { COMMON, NEGATIONS, NUMBERS } from './common-words.ts';
import { held } from './held.ts';
import { stemOf, wordsOf } from './words.ts';

/** Above it two statements say the same, if their details are the same. */
const SAME = 0.85;

/**
 * How alike two texts are, from 0 to 1: the trigrams of letters that they share, of all that they have. As `similarity` of
 * PostgreSQL's pg_trgm, where each word is padded with two spaces before and one after.
 */
export function similarity(a: string, b: string): number {
  const [one, other] = [letterTrigrams(a), letterTrigrams(b)];
  const all = one.union(other).size;
  return all === 0 ? 0 : one.intersection(other).size / all;
}

function letterTrigrams(text: string): Set<string> {
  const trigrams = new Set<string>();
  for (const word of wordsOf(text)) {
    const letters = [...`  ${word} `];
    for (let at = 0; at + 3 <= letters.length; at += 1) trigrams.add(letters.slice(at, at + 3).join(''));
  }
  return trigrams;
}

/**
 * Whether two statements say the same in nearly the same words. Another number, date or negation is another statement, and
 * so is another word that means something: `npm` and `pnpm` are all but alike. So is a change back, which has the words of the
 * change: `npm instead of pnpm`.
 */
export function isNearDuplicate(a: string, b: string): boolean {
  return (
    similarity(a, b) >= SAME &&
    haveSameDetails(a, b) &&
    haveSameMeanings(a, b) &&
    haveSameMeanings(held(a), held(b))
  );
}

function haveSameMeanings(a: string, b: string): boolean {
  return meaningsOf(a).symmetricDifference(meaningsOf(b)).size === 0;
}

/** The stems of the words that not every statement has. */
function meaningsOf(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => !COMMON.has(word))
      .map(stemOf),
  );
}

/** The words that turn a statement into another one although nearly all of it is the same. */
export function detailsOf(text: string): Set<string> {
  const words = wordsOf(text.replaceAll(/['’]/g, ''));
  return new Set(words.filter((word) => /\p{N}/u.test(word) || NEGATIONS.has(word) || NUMBERS.has(word)));
}

export function haveSameDetails(a: string, b: string): boolean {
  return detailsOf(a).symmetricDifference(detailsOf(b)).size === 0;
}
