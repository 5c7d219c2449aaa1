import { normalForm, type PositionedWord, positionedWords, wordNgrams, wordsOf } from '../../text/words.ts';

/** An inexact passage must have at least this share of the quote's word trigrams. */
const CONTAINED_SHARE = 0.8;

/** Only this much of the beginning of a quote is looked up. */
const QUOTE_LIMITS = { units: 1000, words: 250 };

/** A text in which quotes are looked up. It is split into words only once. */
export class QuotedText {
  readonly #text: string;
  readonly #positionedWords: readonly PositionedWord[];
  readonly #words: readonly string[];
  readonly #trigrams: readonly string[];

  constructor(text: string) {
    this.#text = normalForm(text, 'NFC');
    this.#positionedWords = positionedWords(this.#text);
    this.#words = this.#positionedWords.map(({ word }) => word);
    this.#trigrams = wordNgrams(this.#words, 3);
  }

  /**
   * Finds a quote in the text, and returns the passage in the text's own spelling. If the quote's exact words do not
   * occur, finds an equally long run of words with nearly all of the quote's word trigrams.
   */
  passageOf(quote: string): string | undefined {
    const wantedWords = positionedWords(quote.slice(0, QUOTE_LIMITS.units))
      .slice(0, QUOTE_LIMITS.words)
      .map(({ word }) => word);
    const from = findExact(wantedWords, this.#words) ?? findNear(wantedWords, this.#trigrams);
    if (from === undefined) return undefined;
    const last = this.#positionedWords[Math.min(from + wantedWords.length, this.#positionedWords.length) - 1];
    return this.#text.slice(this.#positionedWords[from]?.start, last?.end);
  }
}

/**
 * Searches the joined text, because comparing word by word would take quadratic time if words repeat. No word contains
 * a line break.
 */
function findExact(wanted: readonly string[], words: readonly string[]): number | undefined {
  if (wanted.length === 0) return undefined;
  const text = `\n${words.join('\n')}\n`;
  const at = text.indexOf(`\n${wanted.join('\n')}\n`);
  return at < 0 ? undefined : text.slice(0, at).split('\n').length - 1;
}

/** Takes linear time: `matching` has, for each position, the number of matching trigrams before it. */
function findNear(wanted: readonly string[], present: readonly string[]): number | undefined {
  const trigrams = new Set(wordNgrams(wanted, 3));
  if (trigrams.size === 0) return undefined;
  const matching = [0];
  for (const trigram of present) matching.push((matching.at(-1) ?? 0) + Number(trigrams.has(trigram)));
  const last = matching.length - 1;
  const length = wanted.length - 2;
  let best: { from: number; share: number } | undefined;
  for (let from = 0; from <= Math.max(0, last - length); from += 1) {
    const count = (matching[Math.min(from + length, last)] ?? 0) - (matching[from] ?? 0);
    const share = count / trigrams.size;
    if (share >= CONTAINED_SHARE && share > (best?.share ?? 0)) best = { from, share };
  }
  return best?.from;
}

/** Two passages of one text count as the same if they share at least this part of the trigrams of the shorter one. */
const OVERLAP_SHARE = 0.5;

export function passagesOverlap(a: string, b: string): boolean {
  const [one, other] = [wordsOf(a), wordsOf(b)];
  if (findExact(one, other) !== undefined || findExact(other, one) !== undefined) return true;
  const [trigrams, others] = [new Set(wordNgrams(one, 3)), new Set(wordNgrams(other, 3))];
  const smaller = Math.min(trigrams.size, others.size);
  return smaller > 0 && trigrams.intersection(others).size / smaller >= OVERLAP_SHARE;
}
