import { normalForm, type PositionedWord, positionedWords, wordNgrams, wordsOf } from '../../text/words.ts';

/** An inexact passage must have at least this share of the quote's word trigrams. */
const CONTAINED_SHARE = 0.8;

/** Only this much of the beginning of a quote is looked up. */
const QUOTE_LIMITS = { units: 1000, words: 250 };

/** Texts in which quotes are looked up. They are split into words only once. No quote spans two of them. */
export class QuotedTexts {
  readonly #texts: readonly QuotedText[];

  constructor(texts: readonly string[]) {
    this.#texts = texts.map((text) => new QuotedText(text));
  }

  /**
   * Finds a quote in the first text that contains it, and returns the passage in the text's own spelling. If the quote's
   * exact words do not occur, finds an equally long run of words with nearly all of the quote's word trigrams.
   */
  passageOf(quote: string): string | undefined {
    const words = positionedWords(quote.slice(0, QUOTE_LIMITS.units)).slice(0, QUOTE_LIMITS.words);
    // Prepared once, since a row with quoted lines has hundreds of texts.
    const wanted = new SearchedWords(words.map(({ word }) => word));
    for (const text of this.#texts) {
      const passage = text.passageOf(wanted);
      if (passage !== undefined) return passage;
    }
    return undefined;
  }
}

class QuotedText {
  readonly #text: string;
  readonly #positionedWords: readonly PositionedWord[];
  readonly #words: SearchedWords;

  constructor(text: string) {
    this.#text = normalForm(text, 'NFC');
    this.#positionedWords = positionedWords(this.#text);
    this.#words = new SearchedWords(this.#positionedWords.map(({ word }) => word));
  }

  passageOf(wanted: SearchedWords): string | undefined {
    const from = this.#words.findExact(wanted) ?? this.#words.findNear(wanted);
    if (from === undefined) return undefined;
    const last = this.#positionedWords[Math.min(from + wanted.count, this.#positionedWords.length) - 1];
    return this.#text.slice(this.#positionedWords[from]?.start, last?.end);
  }
}

class SearchedWords {
  readonly count: number;
  readonly trigrams: readonly string[];
  readonly distinctTrigrams: ReadonlySet<string>;
  readonly #joined: string;

  constructor(words: readonly string[]) {
    this.count = words.length;
    this.trigrams = wordNgrams(words, 3);
    this.distinctTrigrams = new Set(this.trigrams);
    // No word contains a line break.
    this.#joined = `\n${words.join('\n')}\n`;
  }

  /** Searches the joined words, because comparing word by word would take quadratic time if words repeat. */
  findExact(wanted: SearchedWords): number | undefined {
    if (wanted.count === 0) return undefined;
    const at = this.#joined.indexOf(wanted.#joined);
    return at < 0 ? undefined : this.#joined.slice(0, at).split('\n').length - 1;
  }

  /** Takes linear time: `matching` has, for each position, the number of matching trigrams before it. */
  findNear({ count, distinctTrigrams: wanted }: SearchedWords): number | undefined {
    if (wanted.size === 0 || this.trigrams.length < CONTAINED_SHARE * wanted.size) return undefined;
    const matching = [0];
    for (const trigram of this.trigrams) matching.push((matching.at(-1) ?? 0) + Number(wanted.has(trigram)));
    const last = matching.length - 1;
    const length = count - 2;
    let best: { from: number; share: number } | undefined;
    for (let from = 0; from <= Math.max(0, last - length); from += 1) {
      const found = (matching[Math.min(from + length, last)] ?? 0) - (matching[from] ?? 0);
      const share = found / wanted.size;
      if (share >= CONTAINED_SHARE && share > (best?.share ?? 0)) best = { from, share };
    }
    return best?.from;
  }
}

/** Two passages of one text count as the same if they share at least this part of the trigrams of the shorter one. */
const OVERLAP_SHARE = 0.5;

export function passagesOverlap(a: string, b: string): boolean {
  const [one, other] = [new SearchedWords(wordsOf(a)), new SearchedWords(wordsOf(b))];
  if (one.findExact(other) !== undefined || other.findExact(one) !== undefined) return true;
  const [trigrams, others] = [one.distinctTrigrams, other.distinctTrigrams];
  const smaller = Math.min(trigrams.size, others.size);
  return smaller > 0 && trigrams.intersection(others).size / smaller >= OVERLAP_SHARE;
}
