/** Matches 30 combining marks followed by another one. No language has so many in a row. */
const LONG_MARK_RUN = /\p{M}{30}(?=\p{M})/gu;
/** Combining grapheme joiner. Normalization does not reorder marks across it. */
const GRAPHEME_JOINER = '\u034f';
/**
 * Matches all but the characters that normalization makes more than four times as long: whole words or phrases in one
 * character, such as U+FDFA.
 */
const NO_LONG_LIGATURE =
  /[^\u321d\u321e\u327c\u3300\u3302\u3304\u3307\u3313\u3315-\u3317\u3319\u331a\u3320\u3321\u332b\u332d\u332e\u3332\u3334\u3336\u333b\u333d\u3340\u3347\u334a\u334c\u3354\u3356\u33ae\u33af\ufdfa\ufdfb]+/g;

/**
 * Normalizes a text, which becomes at most four times as long: a few ligatures stay as they are. Breaks up long runs of
 * combining marks first, as in the Stream-Safe Text Format (Unicode Standard Annex 15, 13), because normalizing a run
 * takes quadratic time.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text
    .replaceAll(LONG_MARK_RUN, `$&${GRAPHEME_JOINER}`)
    .replaceAll(NO_LONG_LIGATURE, (part) => part.normalize(form));
}

/** Scripts without spaces between words, for a character class. Each of their characters counts as a word. */
export const UNSPACED_SCRIPTS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const UNSPACED_CHARACTER = new RegExp(`^[${UNSPACED_SCRIPTS}]`, 'v');
const WORD = new RegExp(
  `[${UNSPACED_SCRIPTS}]\\p{M}*|(?:[[\\p{L}\\p{N}]--[${UNSPACED_SCRIPTS}]]\\p{M}*)+`,
  'gv',
);

/** Returns words in lower case, without marks, compatibility forms and punctuation. */
export function wordsOf(text: string): string[] {
  // Most texts are ASCII, for which this is much faster.
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return foldCase(text).match(WORD) ?? [];
}

/**
 * Returns words. In scripts without spaces, returns pairs of adjacent characters instead, because single characters
 * occur in most texts.
 */
export function termsOf(text: string): Set<string> {
  const words = wordsOf(text);
  const isUnspaced = words.map((word) => UNSPACED_CHARACTER.test(word));
  const terms = words.flatMap((word, at) => {
    if (!isUnspaced[at]) return word;
    if (isUnspaced[at + 1]) return `${word}${words[at + 1]}`;
    return isUnspaced[at - 1] ? [] : word;
  });
  return new Set(terms);
}

/** Positions are in UTF-16 units. */
export interface PositionedWord {
  word: string;
  start: number;
  end: number;
}

/** Counts a character as one word, even if its normal form has several words. */
export function positionedWords(text: string): PositionedWord[] {
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: foldCase(word),
    start: index,
    end: index + word.length,
  }));
}

function foldCase(text: string): string {
  return normalForm(text, 'NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

export function wordSet(words: string): Set<string> {
  return new Set(words.trim().split(/\s+/));
}

export function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Returns every run of `length` consecutive words. */
export function wordNgrams(words: readonly string[], length: number): string[] {
  const count = Math.max(0, words.length - length + 1);
  return Array.from({ length: count }, (_, at) => words.slice(at, at + length).join(' '));
}
