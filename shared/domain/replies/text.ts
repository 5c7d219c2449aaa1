import { normalForm } from '../normal-form.ts';
/** A text as it is compared: compatibility forms, case, white space and punctuation at its ends do not count. */
export function normalized(text: string): string {
  const signs = [...normalForm(text, 'NFKC').toLowerCase().replaceAll(/\s+/gu, ' ')];
  // Not by a pattern with `+$`, whose time is quadratic in a run of punctuation.
  const from = signs.findIndex((sign) => !EDGE.test(sign));
  const to = signs.findLastIndex((sign) => !EDGE.test(sign));
  return signs.slice(Math.max(0, from), to + 1).join('');
}

const EDGE = /[\s\p{P}]/u;

/** Its words in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return (
    normalForm(text, 'NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** From this similarity on two replies count as the same: the trigrams that they share, of all that they have. */
const SAME = 0.9;

/** Whether two replies say the same: equal when normalized, or nearly so. */
export function saysTheSame(a: string, b: string): boolean {
  return new Saying(a).isSameAs(new Saying(b));
}

/** What a reply says. It is read once, however many it is compared with. */
export class Saying {
  readonly #text: string;
  readonly #trigrams = new Set<string>();

  constructor(reply: string) {
    this.#text = normalized(reply);
    const padded = `  ${this.#text} `;
    for (let at = 0; at + 3 <= padded.length; at += 1) this.#trigrams.add(padded.slice(at, at + 3));
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  isSameAs(other: Saying): boolean {
    if (this.#text === other.#text) return true;
    const shared = this.#trigrams.intersection(other.#trigrams).size;
    return shared / (this.#trigrams.size + other.#trigrams.size - shared) >= SAME;
  }
}
