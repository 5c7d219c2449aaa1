import { wordsOf } from './words.ts';

/** Words in a row that identify a text: two texts that share so many were hardly written apart. */
const SHINGLE_WORDS = 5;

/** Every five words in a row of a text, without regard to case, marks and punctuation. */
export function shinglesOf(text: string): Set<string> {
  const words = wordsOf(text);
  const shingles = new Set<string>();
  for (let at = 0; at + SHINGLE_WORDS <= words.length; at += 1)
    shingles.add(words.slice(at, at + SHINGLE_WORDS).join(' '));
  return shingles;
}
