import { runsOf, termsOf, wordsOf } from './words.ts';

/**
 * Compares two texts, from 0 to 1: the trigrams of letters that they share, of all that they have. Computed as
 * `similarity` of PostgreSQL's pg_trgm.
 */
export function similarity(a: string, b: string): number {
  return jaccard(trigramsOf(wordsOf(a)), trigramsOf(wordsOf(b)));
}

/** The trigrams of letters of some words. As pg_trgm takes them: with two blanks before a word and one after it. */
export function trigramsOf(words: readonly string[]): Set<string> {
  const trigrams = new Set<string>();
  for (const word of words) {
    const letters = [...`  ${word} `];
    for (let at = 0; at + 3 <= letters.length; at += 1) trigrams.add(letters.slice(at, at + 3).join(''));
  }
  return trigrams;
}

/** The share that two sets have in common of all that they have; 0 where they have nothing. */
export function jaccard<Element>(a: ReadonlySet<Element>, b: ReadonlySet<Element>): number {
  const common = a.intersection(b).size;
  return common / Math.max(1, a.size + b.size - common);
}

/** Words in a row that identify a text: two texts that share so many were hardly written apart. */
const SHINGLE_WORDS = 5;

/** Every five words in a row of a text. */
export function shinglesOf(text: string): Set<string> {
  return new Set(runsOf(wordsOf(text), SHINGLE_WORDS));
}

/** Texts beside those of a collection in which its terms are assumed not to be: a term of all of few texts still counts. */
const BACKGROUND = 10;

/** Texts with which others are compared, by the terms that they share. Rarer terms count more. */
export class Collection {
  readonly #texts: readonly ReadonlySet<string>[];
  readonly #holding = new Map<string, number>();
  readonly #weights: readonly number[];

  constructor(texts: readonly string[]) {
    this.#texts = texts.map(termsOf);
    for (const terms of this.#texts)
      for (const term of terms) this.#holding.set(term, (this.#holding.get(term) ?? 0) + 1);
    this.#weights = this.#texts.map((terms) => this.#weightOf(terms));
  }

  /** The likeness of each text to this one, 0 to 1: the weight of their shared terms, over that of the richer one's. */
  likenesses(text: string): number[] {
    const asked = termsOf(text);
    const own = this.#weightOf(asked);
    return this.#texts.map((terms, place) => {
      const most = Math.max(own, this.#weights[place] ?? 0);
      return most === 0 ? 0 : this.#weightOf(asked.intersection(terms)) / most;
    });
  }

  #weightOf(terms: ReadonlySet<string>): number {
    let weight = 0;
    for (const term of terms)
      weight += Math.log((this.#texts.length + BACKGROUND) / ((this.#holding.get(term) ?? 0) + 1));
    return weight;
  }
}
