import { wordsOf } from './words.ts';

/** A word of what is asked, and the share of all rows of a tier that have it: 0 if it is rare, or that is not known. */
export interface QuestionWord {
  word: string;
  share: number;
}

/** Characters of a text that are compared, in UTF-16 units. Bounds the time that long texts take. */
const COMPARED = 2000;
/** Share of a word that nobody knows the share of. */
const RARE = 0.0001;
/**
 * BM25: how fast repetitions stop to count, and how much the length of a text does. Little, because what is remembered is
 * mostly a sentence or two: with the usual 0.75 brevity would outweigh a second word.
 */
const K1 = 1.2;
const B = 0.25;
/** Words count as nearly the same from this share of trigrams on. */
const NEAR = 0.5;
/** Shorter words have too few trigrams to be compared. */
const NEAR_MIN = 4;

/**
 * How relevant texts are to a question: BM25 (Robertson and Zaragoza, 2009) over the question's words, where a word that is
 * nearly one of them counts in part. Inverse document frequency is squared, as in the product of two tf-idf vectors: a
 * question has many frequent words, which together must not outweigh the one that matters. The shares of words come from
 * the database, because the texts at hand were chosen by these words.
 */
export class Question {
  readonly #places: Map<string, number>;
  readonly #weights: number[];
  readonly #trigrams = new Map<string, number[]>();
  readonly #sizes: number[] = [];
  /** What words that are nearly the same begin with: people rarely misspell the first letter. */
  readonly #initials = new Set<string>();
  /** What words of texts stand for: they repeat from text to text. */
  readonly #known = new Map<string, { place: number; likeness: number } | undefined>();

  constructor(words: readonly QuestionWord[]) {
    this.#places = new Map(words.map(({ word }, place) => [word, place]));
    this.#weights = words.map(({ share }) => Math.max(0, -Math.log(share + RARE)) ** 2);
    for (const [place, { word }] of words.entries()) {
      const trigrams = word.length < NEAR_MIN ? [] : trigramsOf(word);
      this.#sizes.push(trigrams.length);
      if (trigrams.length > 0) this.#initials.add(word.charAt(0));
      for (const trigram of trigrams) {
        const places = this.#trigrams.get(trigram) ?? [];
        this.#trigrams.set(trigram, [...places, place]);
      }
    }
  }

  /** For each text a number from 0, nothing in common, to 1, the most relevant of them. */
  relevanceOf(texts: readonly string[]): number[] {
    const split = texts.map((text) => wordsOf(text.slice(0, COMPARED)));
    const mean = split.reduce((sum, words) => sum + words.length, 0) / Math.max(1, split.length);
    const scores = split.map((words) => this.#score(words, words.length / Math.max(1, mean)));
    const best = scores.reduce((a, b) => Math.max(a, b), 0);
    return scores.map((score) => (best === 0 ? 0 : score / best));
  }

  /** `length` is relative to the mean. */
  #score(words: readonly string[], length: number): number {
    const counts = this.#weights.map(() => 0);
    for (const word of words) {
      const found = this.#find(word);
      if (found !== undefined) counts[found.place] = (counts[found.place] ?? 0) + found.likeness;
    }
    return counts.reduce((sum, count, place) => {
      const saturated = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
      return sum + (this.#weights[place] ?? 0) * saturated;
    }, 0);
  }

  #find(word: string): { place: number; likeness: number } | undefined {
    const place = this.#places.get(word);
    if (place !== undefined) return { place, likeness: 1 };
    if (word.length < NEAR_MIN || !this.#initials.has(word.charAt(0))) return undefined;
    if (!this.#known.has(word)) this.#known.set(word, this.#nearest(word));
    return this.#known.get(word);
  }

  #nearest(word: string): { place: number; likeness: number } | undefined {
    const trigrams = trigramsOf(word);
    const shared = new Map<number, number>();
    for (const trigram of trigrams)
      for (const place of this.#trigrams.get(trigram) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
    let nearest: { place: number; likeness: number } | undefined;
    for (const [place, count] of shared) {
      const likeness = count / Math.max(trigrams.length, this.#sizes[place] ?? 0);
      if (likeness >= NEAR && likeness > (nearest?.likeness ?? 0)) nearest = { place, likeness };
    }
    return nearest;
  }
}

/** As pg_trgm takes them: with two blanks before the word and one after it. */
function trigramsOf(word: string): string[] {
  const padded = `  ${word} `;
  const trigrams: string[] = [];
  for (let at = 0; at + 3 <= padded.length; at += 1) {
    const trigram = padded.slice(at, at + 3);
    if (!trigrams.includes(trigram)) trigrams.push(trigram);
  }
  return trigrams;
}
