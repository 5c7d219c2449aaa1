import { normalForm } from '../../../shared/domain/normal-form.ts';
/** The id of a line break, across which nothing is continued. */
export const BOUNDARY = 0;

/** A token of a text: a word or a symbol. `spaced`: white space precedes it. */
export interface Token {
  text: string;
  spaced: boolean;
}

const LINE_BREAK = '\n';

/**
 * A token with the white space before it: a character of a script without spaces, a word, or a symbol with everything
 * joined to it. A match cannot start inside white space, or a long run of it would take quadratic time.
 */
const PARTS = new RegExp(
  `(?<!\\s)(?:\\s*(?:${[
    '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]\\p{M}*',
    "[\\p{L}\\p{M}\\p{N}_]+(?:['’][\\p{L}\\p{M}\\p{N}_]+)*",
    '\\p{RI}\\p{RI}',
    '[^\\s\\p{C}][\\p{M}\\p{EMod}]*(?:\\u200d[^\\s\\p{C}][\\p{M}\\p{EMod}]*)*',
  ].join('|')})|\\s+$)`,
  'gu',
);

/** Keys, tokens, hashes and card numbers, which are neither learned nor completed. */
const CODED_RUN = /[\w+/=-]{20,}/g;
const LONG_NUMBER = /\d(?:[ -]?\d){11,}/g;

/** The tokens of a text in order, with a line break in place of each secret. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const part of maskSecrets(normalForm(text, 'NFC')).match(PARTS) ?? []) {
    const word = part.trimStart();
    const spaced = word.length < part.length;
    if (spaced && /[\n\r\u2028\u2029]/.test(part)) tokens.push({ text: LINE_BREAK, spaced });
    if (word !== '') tokens.push({ text: word, spaced });
  }
  return tokens;
}

/** Whether a text contains something that must not be completed. */
export function hasSecret(text: string): boolean {
  return maskSecrets(text) !== text;
}

function maskSecrets(text: string): string {
  return text
    .replace(CODED_RUN, (run) => (/\d/.test(run) ? LINE_BREAK : run))
    .replace(LONG_NUMBER, LINE_BREAK);
}

/** The tokens of all texts in one sequence, the draft last, as parallel arrays. */
export class Corpus {
  /** Per position. */
  readonly ids: number[] = [];
  readonly tokens: Token[] = [];
  readonly weights: number[] = [];
  /** Per id: its lower-case form, its total weight, its latest position. */
  readonly keys: string[] = [];
  readonly totals: number[] = [];
  readonly latest: number[] = [];
  /** Of all positions. */
  weight = 0;
  /** By spelling: all spellings of a word share an id. */
  readonly #ids = new Map<string, number>();

  constructor() {
    this.endText();
  }

  add(tokens: readonly Token[], weight: number): void {
    for (const token of tokens) {
      const id = this.#idOf(token.text);
      this.latest[id] = this.ids.length;
      this.totals[id] = (this.totals[id] ?? 0) + weight;
      this.ids.push(id);
      this.tokens.push(token);
      this.weights.push(weight);
      this.weight += weight;
    }
  }

  /** Ends a text: what is added next does not continue it. */
  endText(): void {
    this.add([{ text: LINE_BREAK, spaced: false }], 1);
  }

  #idOf(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const key = word.toLowerCase();
    const id = this.#ids.get(key) ?? this.keys.push(key) - 1;
    this.#ids.set(key, id);
    this.#ids.set(word, id);
    return id;
  }
}
