import { countsOf } from './words.ts';

export type WordCounts = ReadonlyMap<string, number>;

export function sumWordCounts(texts: readonly WordCounts[]): WordCounts {
  const sum = new Map<string, number>();
  for (const counts of texts) for (const [word, count] of counts) sum.set(word, (sum.get(word) ?? 0) + count);
  return sum;
}

/** A word's weight is ln(number of texts / number of texts with the word) (Spärck Jones 1972). */
export class TfIdf {
  readonly #textCount: number;
  readonly #textsWithWord: WordCounts;
  readonly #vectorLengths = new WeakMap<WordCounts, number>();

  constructor(texts: readonly WordCounts[]) {
    this.#textCount = texts.length;
    this.#textsWithWord = countsOf(texts.flatMap((counts) => [...counts.keys()]));
  }

  /** Returns the cosine of two tf-idf vectors, from 0 to 1; undefined when one of them has length 0. */
  cosine(one: WordCounts, other: WordCounts): number | undefined {
    const [left, right] = [this.#vectorLength(one), this.#vectorLength(other)];
    if (left === 0 || right === 0) return undefined;
    let product = 0;
    for (const [word, count] of one) product += count * (other.get(word) ?? 0) * this.#weight(word) ** 2;
    return product / (left * right);
  }

  #vectorLength(counts: WordCounts): number {
    const known = this.#vectorLengths.get(counts);
    if (known !== undefined) return known;
    let squares = 0;
    for (const [word, count] of counts) squares += (count * this.#weight(word)) ** 2;
    const length = Math.sqrt(squares);
    this.#vectorLengths.set(counts, length);
    return length;
  }

  #weight(word: string): number {
    return Math.log(this.#textCount / (this.#textsWithWord.get(word) ?? this.#textCount));
  }
}
