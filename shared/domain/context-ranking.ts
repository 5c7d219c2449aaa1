import { setImmediate as nextTurn } from 'node:timers/promises';
import { jaccard } from '../text/similarity.ts';
import { wordsOf } from '../text/words.ts';

/** Names the way of ranking, in `meta.ranking`. A change of what follows gets another name. */
export const RANKING = 'v2';

const WEIGHTS = { relevance: 0.75, recency: 0.1, salience: 0.1, support: 0.05 } as const;
/** So many sources support a row as well as any more do. */
export const SUPPORT_MAX = 10;
/** Two texts that share more of their pairs of words say the same. */
const SAME = 0.7;

/** The merits of a row, each from 0 to 1 but its age in milliseconds. */
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
 * when nothing else is left. The same rows give the same result, in whatever order they come. Many long texts take
 * several turns of the event loop.
 */
export async function chooseBest<Row>(rows: readonly Ranked<Row>[], most: number): Promise<Row[]> {
  const ordered = rows.toSorted(
    (a, b) => Number(b.pinned) - Number(a.pinned) || b.worth - a.worth || (a.row.id < b.row.id ? 1 : -1),
  );
  if (ordered.length <= most) return ordered.map(({ row }) => row);
  const chosen: Row[] = [];
  const repeats: Row[] = [];
  const compared: Compared[] = [];
  let since = performance.now();
  for (const { row, text } of ordered) {
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      since = performance.now();
    }
    if (chosen.length === most) break;
    const next = comparedOf(text);
    if (compared.some((one) => isSame(one, next))) repeats.push(row);
    else {
      chosen.push(row);
      if (compared.length < COMPARED_MAX) compared.push(next);
    }
  }
  return [...chosen, ...repeats].slice(0, most);
}

/** Number of the best with which the others are compared: a bound on the time. */
const COMPARED_MAX = 100;
/** Time for which it compares before other requests are served. */
const SLICE_MS = 5;

/** A text as it is compared with others. */
interface Compared {
  pairs: Set<string>;
  /** Its words with digits. Texts that differ in a number never say the same. */
  numbers: string;
}

function comparedOf(text: string): Compared {
  const words = wordsOf(text);
  const pairs = new Set(words.map((word, at) => `${word} ${words[at + 1] ?? ''}`));
  return { pairs, numbers: words.filter((word) => /\p{N}/u.test(word)).join(' ') };
}

function isSame(a: Compared, b: Compared): boolean {
  const [fewer = 0, more = 0] = [a.pairs.size, b.pairs.size].sort((one, other) => one - other);
  // Their sizes alone tell most of them apart.
  if (a.numbers !== b.numbers || fewer < SAME * more) return false;
  return more === 0 || jaccard(a.pairs, b.pairs) > SAME;
}
