import { isLowSurrogate } from './cut.ts';

/**
 * Estimates, in quarters of a token, what a code point costs with the usual tokenizers: a token is four Latin letters, two
 * of other alphabets, or one character of Chinese, Japanese or Korean, or emoji.
 */
function quarterTokens(codePoint: number): number {
  if (codePoint < 0x250) return 1;
  return codePoint < 0x2e80 ? 2 : 4;
}

/** A code point of more than a quarter. Most texts have none, which a pattern finds out without running code for each. */
const DEAR = /[^\0-\u024f]/;

/** The same for a text, in whole tokens. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  if (!DEAR.test(text)) quarters = text.length;
  else for (const character of text) quarters += quarterTokens(character.codePointAt(0) ?? 0);
  return Math.ceil(quarters / 4);
}

/** A number of tokens that texts take from. */
export class TokenBudget {
  /** True once something did not fit. */
  isExceeded = false;
  /** Counted in quarters of a token, so that the sums stay whole. */
  #taken = 0;
  readonly #quarters: number;

  constructor(tokens: number) {
    this.#quarters = tokens * 4;
  }

  get taken(): number {
    return this.#taken / 4;
  }

  /** Takes more, up to a multiple of so many tokens, as far as there is room. */
  roundUp(tokens: number): void {
    const step = 4 * tokens;
    this.#taken = Math.max(this.#taken, Math.min(Math.ceil(this.#taken / step) * step, this.#quarters));
  }

  /** Takes a whole text, if it fits. */
  takes(text: string): boolean {
    return this.#take(4 * estimateTokens(text));
  }

  /** Takes as much of the beginning of a text as fits; after something that did not fit, nothing does. */
  beginning(text: string): string {
    if (this.#takesCheap(text)) return text;
    let at = 0;
    while (at < text.length) {
      const codePoint = text.codePointAt(at) ?? 0;
      if (this.isExceeded || !this.#take(quarterTokens(codePoint))) break;
      at += codePoint > 0xffff ? 2 : 1;
    }
    return text.slice(0, at);
  }

  /** Takes as much of the end of a text as fits; after something that did not fit, nothing does. */
  end(text: string): string {
    if (this.#takesCheap(text)) return text;
    let at = text.length;
    while (at > 0) {
      const width = isLowSurrogate(text.charCodeAt(at - 1)) && at > 1 ? 2 : 1;
      if (this.isExceeded || !this.#take(quarterTokens(text.codePointAt(at - width) ?? 0))) break;
      at -= width;
    }
    return text.slice(at);
  }

  #takesCheap(text: string): boolean {
    return (
      !this.isExceeded &&
      this.#taken + text.length <= this.#quarters &&
      !DEAR.test(text) &&
      this.#take(text.length)
    );
  }

  #take(quarters: number): boolean {
    const fits = this.#taken + quarters <= this.#quarters;
    if (fits) this.#taken += quarters;
    else this.isExceeded = true;
    return fits;
  }
}
