/** Number of occurrences of each word. */
export type Counts = ReadonlyMap<string, number>;

export function sumOf(texts: readonly Counts[]): Counts {
  const sum = new Map<string, number>();
  for (const counts of texts) for (const [word, count] of counts) sum.set(word, (sum.get(word) ?? 0) + count);
  return sum;
}

/** The weight of a word is ln(texts / texts with the word) (Spärck Jones 1972). */
export class TfIdf {
  readonly #textCount: number;
  readonly #textsWithWord = new Map<string, number>();
  /** Lengths of the vectors compared so far. */
  readonly #lengths = new WeakMap<Counts, number>();

  constructor(texts: readonly Counts[]) {
    this.#textCount = texts.length;
    for (const counts of texts)
      for (const word of counts.keys())
        this.#textsWithWord.set(word, (this.#textsWithWord.get(word) ?? 0) + 1);
  }

  /** Returns the cosine of two tf-idf vectors, from 0 to 1; undefined when one of them has length 0. */
  cosine(one: Counts, other: Counts): number | undefined {
    const [left, right] = [this.#length(one), this.#length(other)];
    if (left === 0 || right === 0) return undefined;
    let product = 0;
    for (const [word, count] of one) product += count * (other.get(word) ?? 0) * this.#weight(word) ** 2;
    return product / (left * right);
  }

  #length(counts: Counts): number {
    const known = this.#lengths.get(counts);
    if (known !== undefined) return known;
    let squares = 0;
    for (const [word, count] of counts) squares += (count * this.#weight(word)) ** 2;
    const length = Math.sqrt(squares);
    this.#lengths.set(counts, length);
    return length;
  }

  #weight(word: string): number {
    return Math.log(this.#textCount / (this.#textsWithWord.get(word) ?? this.#textCount));
  }
}
