import { placedWords, wordsOf } from './words.ts';

/** The share of a quote's word trigrams that must stand in a passage, where the quote is not copied exactly. */
const CONTAINED = 0.8;

/**
 * The passage of a text that a quote means, as it stands there: its very words in a row, else as many words that have
 * nearly all of its word trigrams. Undefined when there is none.
 */
export function passageOf(quote: string, text: string): string | undefined {
  const wanted = wordsOf(quote);
  const original = text.normalize('NFC');
  const words = placedWords(original);
  const plain = words.map(({ word }) => word);
  const from = exactly(wanted, plain) ?? nearly(wanted, plain);
  if (from === undefined) return undefined;
  const last = words[Math.min(from + wanted.length, words.length) - 1];
  return original.slice(words[from]?.start, last?.end);
}

function exactly(wanted: readonly string[], words: readonly string[]): number | undefined {
  if (wanted.length === 0) return undefined;
  const from = words.findIndex((_, at) => wanted.every((word, offset) => words[at + offset] === word));
  return from < 0 ? undefined : from;
}

/** Linear in both lengths: the matching trigrams before each place are counted once. */
function nearly(wanted: readonly string[], words: readonly string[]): number | undefined {
  const trigrams = new Set(trigramsOf(wanted));
  if (trigrams.size === 0) return undefined;
  const matching = [0];
  for (const trigram of trigramsOf(words))
    matching.push((matching.at(-1) ?? 0) + Number(trigrams.has(trigram)));
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

/** Every three words in a row. */
function trigramsOf(words: readonly string[]): string[] {
  return words.slice(2).map((last, at) => `${words[at]} ${words[at + 1]} ${last}`);
}

/** The share that the passages of one text have in common, above which they count as the same. */
const SHARED = 0.5;

/** Whether two passages of one text are the same or overlap. */
export function overlap(a: string, b: string): boolean {
  const [one, other] = [wordsOf(a), wordsOf(b)];
  if (exactly(one, other) !== undefined || exactly(other, one) !== undefined) return true;
  const [trigrams, others] = [new Set(trigramsOf(one)), new Set(trigramsOf(other))];
  const smaller = Math.min(trigrams.size, others.size);
  return smaller > 0 && trigrams.intersection(others).size / smaller >= SHARED;
}
