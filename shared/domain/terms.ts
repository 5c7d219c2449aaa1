import { normalForm } from './normal-form.ts';
/** How often each term occurs. */
export type Terms = ReadonlyMap<string, number>;

/** A script without spaces between words: each of its characters is a term. */
const TERM =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|[\p{L}\p{N}]+/gu;

/** The words of a text, without regard to case and marks. */
export function termsOf(text: string): Terms {
  const terms = new Map<string, number>();
  const plain = normalForm(text, 'NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  for (const [term] of plain.matchAll(TERM)) terms.set(term, (terms.get(term) ?? 0) + 1);
  return terms;
}

/** All terms of some texts. */
export function sumOf(texts: readonly Terms[]): Terms {
  const sum = new Map<string, number>();
  for (const terms of texts) for (const [term, count] of terms) sum.set(term, (sum.get(term) ?? 0) + count);
  return sum;
}

/** How much a term says in a collection of texts: ln(texts / texts with the term) (Spärck Jones 1972). */
export class Weights {
  readonly #texts: number;
  readonly #withTerm = new Map<string, number>();
  /** Of the vectors that were compared before. */
  readonly #lengths = new WeakMap<Terms, number>();

  constructor(texts: readonly Terms[]) {
    this.#texts = texts.length;
    for (const terms of texts)
      for (const term of terms.keys()) this.#withTerm.set(term, (this.#withTerm.get(term) ?? 0) + 1);
  }

  /** The cosine of the tf-idf vectors, from 0 to 1; undefined when one of them has no direction. */
  similarity(one: Terms, other: Terms): number | undefined {
    const [left, right] = [this.#length(one), this.#length(other)];
    if (left === 0 || right === 0) return undefined;
    let product = 0;
    for (const [term, count] of one) product += count * (other.get(term) ?? 0) * this.#of(term) ** 2;
    return product / (left * right);
  }

  #length(terms: Terms): number {
    const known = this.#lengths.get(terms);
    if (known !== undefined) return known;
    let squares = 0;
    for (const [term, count] of terms) squares += (count * this.#of(term)) ** 2;
    const length = Math.sqrt(squares);
    this.#lengths.set(terms, length);
    return length;
  }

  #of(term: string): number {
    return Math.log(this.#texts / (this.#withTerm.get(term) ?? this.#texts));
  }
}
