import { setImmediate as nextTurn } from 'node:timers/promises';
import { wordsOf } from './words.ts';

/** Names the way of ranking, in `meta.ranking`. A change of what follows gets another name. */
export const RANKING = 'v1';

const WEIGHTS = { relevance: 0.45, recency: 0.2, salience: 0.2, support: 0.15 } as const;
/** So many sources support a row as well as any more do. */
export const SUPPORT_MAX = 10;
/** Two texts that share more of their pairs of words say the same. */
const SAME = 0.7;

/** What a row of a tier is judged by, each from 0 to 1 but its age in milliseconds. */
export interface Merits {
  relevance: number;
  ageMs: number;
  salience: number;
  /** Rows that it is derived from. */
  sources: number;
}

/**
 * The worth of a row: relevance, recency and importance as in Generative Agents (arXiv 2304.03442), and support by sources.
 * `halfLifeMs` is the age at which recency counts half. Rows that lie ahead count as new.
 */
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

/** A row to choose from. */
export interface Ranked<Row> {
  row: Row & { id: string };
  text: string;
  worth: number;
  pinned: boolean;
}

/**
 * The best of the rows, at most so many: pinned ones first, then by worth. What nearly repeats a better row only comes in
 * when nothing else is left. The same rows give the same result, in whatever order they come. Many long texts take several turns
 * of the event loop.
 */
export async function chooseBest<Row>(rows: readonly Ranked<Row>[], most: number): Promise<Row[]> {
  const ordered = rows.toSorted(
    (a, b) => Number(b.pinned) - Number(a.pinned) || b.worth - a.worth || (a.row.id < b.row.id ? 1 : -1),
  );
  if (ordered.length <= most) return ordered.map(({ row }) => row);
  const chosen: Row[] = [];
  const repeats: Row[] = [];
  const told: Told[] = [];
  let since = performance.now();
  for (const { row, text } of ordered) {
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      since = performance.now();
    }
    if (chosen.length === most) break;
    const tells = tell(text);
    if (told.some((one) => isSame(one, tells))) repeats.push(row);
    else {
      chosen.push(row);
      if (told.length < COMPARED_MAX) told.push(tells);
    }
  }
  return [...chosen, ...repeats].slice(0, most);
}

/** How many of the best the others are compared with: a bound on the time. */
const COMPARED_MAX = 100;
/** How long it compares before other requests are served. */
const SLICE_MS = 5;

interface Told {
  pairs: Set<string>;
  /** Its words with digits. Texts that differ in a number never say the same. */
  numbers: string;
}

function tell(text: string): Told {
  const words = wordsOf(text);
  const pairs = new Set(words.map((word, at) => `${word} ${words[at + 1] ?? ''}`));
  return { pairs, numbers: words.filter((word) => /\p{N}/u.test(word)).join(' ') };
}

function isSame(a: Told, b: Told): boolean {
  const [fewer, more] = a.pairs.size < b.pairs.size ? [a.pairs, b.pairs] : [b.pairs, a.pairs];
  // Nothing has more in common than the smaller one has.
  if (a.numbers !== b.numbers || fewer.size < SAME * more.size) return false;
  const common = fewer.intersection(more).size;
  return common > SAME * (fewer.size + more.size - common) || (fewer.size === 0 && more.size === 0);
}
