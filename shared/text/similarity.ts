import { countsOf, termsOf, wordsOf } from './words.ts';

/** Returns the Jaccard similarity of the letter trigrams, like `similarity` of PostgreSQL's pg_trgm. */
export function similarity(a: string, b: string): number {
  return jaccard(trigramsOf(wordsOf(a)), trigramsOf(wordsOf(b)));
}

/** Makes trigrams as pg_trgm does: with two blanks before a word and one after it. */
export function trigramsOf(words: readonly string[]): Set<string> {
  const trigrams = new Set<string>();
  for (const word of words) {
    const letters = [...`  ${word} `];
    for (let at = 0; at + 3 <= letters.length; at += 1) trigrams.add(letters.slice(at, at + 3).join(''));
  }
  return trigrams;
}

/** Returns 0 for empty sets. */
export function jaccard<Element>(a: ReadonlySet<Element>, b: ReadonlySet<Element>): number {
  const common = a.intersection(b).size;
  return common / Math.max(1, a.size + b.size - common);
}

/** Two texts rarely share this many consecutive words by chance. */
export const SHINGLE_WORDS = 5;

/** Added to the number of texts. Otherwise, a term that all texts contain would have no weight. */
const BACKGROUND_TEXT_COUNT = 10;

/** Compares texts by the terms that they share. Rarer terms have more weight. */
export class TextCollection {
  readonly #texts: readonly ReadonlySet<string>[];
  readonly #textsWithTerm: ReadonlyMap<string, number>;
  readonly #weights: readonly number[];

  constructor(texts: readonly string[]) {
    this.#texts = texts.map(termsOf);
    this.#textsWithTerm = countsOf(this.#texts.flatMap((terms) => [...terms]));
    this.#weights = this.#texts.map((terms) => this.#weightOf(terms));
  }

  /** Returns one number per text: the weight of the shared terms divided by the larger weight of the two texts. */
  similarities(text: string): number[] {
    const askedTerms = termsOf(text);
    const askedWeight = this.#weightOf(askedTerms);
    return this.#texts.map((terms, place) => {
      const heavierWeight = Math.max(askedWeight, this.#weights[place] ?? 0);
      return heavierWeight === 0 ? 0 : this.#weightOf(askedTerms.intersection(terms)) / heavierWeight;
    });
  }

  #weightOf(terms: ReadonlySet<string>): number {
    let weight = 0;
    for (const term of terms)
      weight += Math.log(
        (this.#texts.length + BACKGROUND_TEXT_COUNT) / ((this.#textsWithTerm.get(term) ?? 0) + 1),
      );
    return weight;
  }
}
