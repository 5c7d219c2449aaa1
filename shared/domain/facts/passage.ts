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

function nearly(wanted: readonly string[], words: readonly string[]): number | undefined {
  const trigrams = wordTrigrams(wanted);
  if (trigrams.size === 0) return undefined;
  let best: { from: number; share: number } | undefined;
  for (let from = 0; from < Math.max(1, words.length - wanted.length + 1); from += 1) {
    const window = wordTrigrams(words.slice(from, from + wanted.length));
    const share = trigrams.intersection(window).size / trigrams.size;
    if (share >= CONTAINED && share > (best?.share ?? 0)) best = { from, share };
  }
  return best?.from;
}

/** Every three words in a row. */
function wordTrigrams(words: readonly string[]): Set<string> {
  return new Set(words.slice(2).map((last, at) => `${words[at]} ${words[at + 1]} ${last}`));
}

/** The share that the passages of one text have in common, above which they count as the same. */
const SHARED = 0.5;

/** Whether two passages of one text are the same or overlap. */
export function overlap(a: string, b: string): boolean {
  const [one, other] = [wordsOf(a), wordsOf(b)];
  if (exactly(one, other) !== undefined || exactly(other, one) !== undefined) return true;
  const [trigrams, others] = [wordTrigrams(one), wordTrigrams(other)];
  const smaller = Math.min(trigrams.size, others.size);
  return smaller > 0 && trigrams.intersection(others).size / smaller >= SHARED;
}
