import { normalForm, type PlacedWord, placedWords, runsOf, wordsOf } from '../../text/words.ts';

/** The share of a quote's word trigrams that must stand in a passage, where the quote is not copied exactly. */
const CONTAINED = 0.8;

/** Bounds of the part of a quote that is read: its passage is kept shorter. */
const QUOTE_READ = { units: 1000, words: 250 };

/** A text that is quoted. It is read once, however many quotes are looked for in it. */
export class QuotedText {
  readonly #text: string;
  readonly #placed: readonly PlacedWord[];
  readonly #words: readonly string[];
  readonly #trigrams: readonly string[];

  constructor(text: string) {
    this.#text = normalForm(text, 'NFC');
    this.#placed = placedWords(this.#text);
    this.#words = this.#placed.map(({ word }) => word);
    this.#trigrams = runsOf(this.#words, 3);
  }

  /**
   * The passage that a quote means, as it stands here: its very words in a row, else as many words that have nearly all of
   * its word trigrams. Undefined when there is none.
   */
  passageOf(quote: string): string | undefined {
    const wanted = placedWords(quote.slice(0, QUOTE_READ.units))
      .slice(0, QUOTE_READ.words)
      .map(({ word }) => word);
    const from = exactly(wanted, this.#words) ?? nearly(wanted, this.#trigrams);
    if (from === undefined) return undefined;
    const last = this.#placed[Math.min(from + wanted.length, this.#placed.length) - 1];
    return this.#text.slice(this.#placed[from]?.start, last?.end);
  }
}

/** Searches the text of the words, which takes no quadratic time in words that repeat. No word has a line break. */
function exactly(wanted: readonly string[], words: readonly string[]): number | undefined {
  if (wanted.length === 0) return undefined;
  const text = `\n${words.join('\n')}\n`;
  const at = text.indexOf(`\n${wanted.join('\n')}\n`);
  return at < 0 ? undefined : text.slice(0, at).split('\n').length - 1;
}

/** Linear in both lengths: the matching trigrams before each place are counted once. */
function nearly(wanted: readonly string[], present: readonly string[]): number | undefined {
  const trigrams = new Set(runsOf(wanted, 3));
  if (trigrams.size === 0) return undefined;
  const matching = [0];
  for (const trigram of present) matching.push((matching.at(-1) ?? 0) + Number(trigrams.has(trigram)));
  const last = matching.length - 1;
  const length = wanted.length - 2;
  let best: { from: number; share: number } | undefined;
  for (let from = 0; from <= Math.max(0, last - length); from += 1) {
    const count = (matching[Math.min(from + length, last)] ?? 0) - (matching[from] ?? 0);
    const share = count / trigrams.size;
    if (share >= CONTAINED && share > (best?.share ?? 0)) best = { from, share };
  }
  return best?.from;
}

/** The share that the passages of one text have in common, above which they count as the same. */
const SHARED = 0.5;

/** Reports whether two passages of one text are the same or overlap. */
export function overlap(a: string, b: string): boolean {
  const [one, other] = [wordsOf(a), wordsOf(b)];
  if (exactly(one, other) !== undefined || exactly(other, one) !== undefined) return true;
  const [trigrams, others] = [new Set(runsOf(one, 3)), new Set(runsOf(other, 3))];
  const smaller = Math.min(trigrams.size, others.size);
  return smaller > 0 && trigrams.intersection(others).size / smaller >= SHARED;
}
