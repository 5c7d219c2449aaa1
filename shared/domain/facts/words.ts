/** Scripts that put no spaces between words: each of their characters counts as a word. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]|[\p{L}\p{N}]+/gu;

/** The words of a text, without regard to case, marks, punctuation and compatibility forms. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.match(WORDS) ?? [];
}

/** A text as it is compared: its words, separated by single spaces. */
export function normalized(text: string): string {
  return wordsOf(text).join(' ');
}

/** Whether the words of one text stand in the other one, in a row. A text without words is in none. */
export function isWithin(part: string, whole: string): boolean {
  const words = normalized(part);
  return words !== '' && ` ${normalized(whole)} `.includes(` ${words} `);
}

/** Every three words in a row. */
function wordTrigrams(text: string): Set<string> {
  const words = wordsOf(text);
  const trigrams = words.slice(2).map((last, at) => `${words[at]} ${words[at + 1]} ${last}`);
  return new Set(trigrams);
}

/** The share of a text's word trigrams that another text has: 0 to 1, and 0 for a text of fewer than three words. */
export function containment(part: string, whole: string): number {
  const trigrams = wordTrigrams(part);
  return trigrams.size === 0 ? 0 : trigrams.intersection(wordTrigrams(whole)).size / trigrams.size;
}

const STEM = 5;

/** A word by its first letters, so that its forms count as one. */
export function stemOf(word: string): string {
  return word.slice(0, STEM);
}
