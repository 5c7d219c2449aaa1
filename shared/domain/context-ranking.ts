import { jaccard } from '../text/similarity.ts';
import { wordsOf } from '../text/words.ts';
import { Slices } from '../timing/slices.ts';

/** Reported in `meta.ranking`. Any change to the ranking needs a new version. */
export const RANKING_VERSION = 'v4';

const WEIGHTS = { relevance: 0.75, recency: 0.1, salience: 0.1, support: 0.05 } as const;
/** Number of sources beyond which further ones add no support. */
const SUPPORT_MAX = 10;
/** Jaccard similarity of the bigrams above which two texts count as the same. */
const SAME_TEXT_JACCARD = 0.7;

/** Relevance and salience are from 0 to 1. */
export interface Merits {
  relevance: number;
  ageMs: number;
  salience: number;
  /** Number of rows from which this row is derived. */
  sources: number;
}

/** Scores a row as in Generative Agents (arXiv 2304.03442, where salience is called importance), plus its support. */
export function worthOf({ relevance, ageMs, salience, sources }: Merits, halfLifeMs: number): number {
  const recency = 2 ** (-Math.max(0, ageMs) / halfLifeMs);
  const support = Math.log(1 + Math.min(sources, SUPPORT_MAX)) / Math.log(1 + SUPPORT_MAX);
  return (
    WEIGHTS.relevance * relevance +
    WEIGHTS.recency * recency +
    WEIGHTS.salience * salience +
    WEIGHTS.support * support
  );
}

export interface Ranked<Row> {
  row: Row & { id: string };
  text: string;
  worth: number;
  pinned: boolean;
}

/**
 * Returns at most `max` rows: pinned ones first, then by worth. Rows that nearly repeat a better one are chosen only if
 * there are too few others.
 */
export async function chooseBest<Row>(rows: readonly Ranked<Row>[], max: number): Promise<Row[]> {
  const orderedRows = rows.toSorted(
    (a, b) => Number(b.pinned) - Number(a.pinned) || b.worth - a.worth || (a.row.id < b.row.id ? 1 : -1),
  );
  if (orderedRows.length <= max) return orderedRows.map(({ row }) => row);
  const chosenRows: Row[] = [];
  const repeats: Row[] = [];
  const comparedTexts: ComparedText[] = [];
  const slices = new Slices();
  for (const { row, text } of orderedRows) {
    await slices.pause();
    if (chosenRows.length === max) break;
    const next = comparedTextOf(text);
    if (comparedTexts.some((one) => isSameText(one, next))) repeats.push(row);
    else {
      chosenRows.push(row);
      if (comparedTexts.length < COMPARED_ROWS_MAX) comparedTexts.push(next);
    }
  }
  return [...chosenRows, ...repeats].slice(0, max);
}

/** A row is compared with at most this many chosen rows, to bound the time. */
const COMPARED_ROWS_MAX = 100;

interface ComparedText {
  bigrams: Set<string>;
  /** The words with digits. Texts that differ in such a word never count as the same. */
  numbers: string;
}

function comparedTextOf(text: string): ComparedText {
  const words = wordsOf(text);
  const bigrams = new Set(words.map((word, at) => `${word} ${words[at + 1] ?? ''}`));
  return { bigrams, numbers: words.filter((word) => /\p{N}/u.test(word)).join(' ') };
}

function isSameText(a: ComparedText, b: ComparedText): boolean {
  const [fewer = 0, more = 0] = [a.bigrams.size, b.bigrams.size].sort((one, other) => one - other);
  // These cheap checks distinguish most texts.
  if (a.numbers !== b.numbers || fewer < SAME_TEXT_JACCARD * more) return false;
  return more === 0 || jaccard(a.bigrams, b.bigrams) > SAME_TEXT_JACCARD;
}
