import { isLowSurrogate } from './cut.ts';

/** A token is four Latin letters, two letters of other alphabets, or one emoji or CJK character. */
function quarterTokens(codePoint: number): number {
  if (codePoint < 0x250) return 1;
  return codePoint < 0x2e80 ? 2 : 4;
}

/** Most texts have only Latin letters, and testing this pattern is faster than a loop. */
const NON_LATIN = /[^\0-\u024f]/;

/** Rounds up. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  if (!NON_LATIN.test(text)) quarters = text.length;
  else for (const character of text) quarters += quarterTokens(character.codePointAt(0) ?? 0);
  return Math.ceil(quarters / 4);
}

export class TokenBudget {
  /** True after something did not fit. */
  isExceeded = false;
  /** In quarters of a token, so that all sums are whole numbers. */
  #taken = 0;
  readonly #quarters: number;

  constructor(tokens: number) {
    this.#quarters = tokens * 4;
  }

  get taken(): number {
    return this.#taken / 4;
  }

  /** Rounds the taken tokens up to a multiple of `tokens`, but not beyond the budget. */
  roundUp(tokens: number): void {
    const step = 4 * tokens;
    this.#taken = Math.max(this.#taken, Math.min(Math.ceil(this.#taken / step) * step, this.#quarters));
  }

  /** Takes the whole text or nothing. Returns whether it fitted. */
  takeWhole(text: string): boolean {
    return this.#take(4 * estimateTokens(text));
  }

  /** Takes and returns the beginning of the text, as much as fits; '' once the budget is exceeded. */
  takeBeginning(text: string): string {
    if (this.#takeIfLatin(text)) return text;
    let at = 0;
    while (at < text.length) {
      const codePoint = text.codePointAt(at) ?? 0;
      if (this.isExceeded || !this.#take(quarterTokens(codePoint))) break;
      at += codePoint > 0xffff ? 2 : 1;
    }
    return text.slice(0, at);
  }

  /** Like `takeBeginning`, from the end. */
  takeEnd(text: string): string {
    if (this.#takeIfLatin(text)) return text;
    let at = text.length;
    while (at > 0) {
      const width = isLowSurrogate(text.charCodeAt(at - 1)) && at > 1 ? 2 : 1;
      if (this.isExceeded || !this.#take(quarterTokens(text.codePointAt(at - width) ?? 0))) break;
      at -= width;
    }
    return text.slice(at);
  }

  #takeIfLatin(text: string): boolean {
    return (
      !this.isExceeded &&
      this.#taken + text.length <= this.#quarters &&
      !NON_LATIN.test(text) &&
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
