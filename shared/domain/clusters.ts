import { type Counts, sumOf, TfIdf } from '../text/tf-idf.ts';
import { estimateTokens } from '../text/tokens.ts';
import { countsOf, wordsOf } from '../text/words.ts';

/** A raw row as clustering reads it. */
export interface ClusterRow {
  id: string;
  sessionId: string | null;
  occurredAt: Date;
  content: string;
  /** True if a person wrote it. */
  isHuman: boolean;
}

const MINUTE_MS = 60_000;
const GAP_MS = 30 * MINUTE_MS;
const ROWS_MAX = 40;
const TOKENS_MAX = 6000;
/** Rows on either side of a shift of the topic, and how alike they are at most. */
const WINDOW = 4;
const ALIKE = 0.08;
const ROWS_BEFORE_SHIFT = 6;
/** A topic shows in the beginning of a text. */
const TOPIC_CHARS = 1000;

/**
 * Puts together the rows that belong to one stretch of work, without a model. A cluster ends with its session, before a
 * gap of more than 30 minutes, before it has more than 40 rows or 6000 tokens, and where the topic shifts: where the last
 * four rows and the next four share hardly a word (TextTiling: Hearst 1997, with tf-idf). Each row is in one cluster; the
 * clusters are in the order of their first rows, their rows in the order of time.
 */
export function clustersOf<Row extends ClusterRow>(rows: readonly Row[]): Row[][] {
  const sessions = Map.groupBy(rows.toSorted(inTime), ({ sessionId }) => sessionId);
  const clusters = [...sessions.values()].flatMap((session) => cut(session));
  return clusters.sort(([one], [other]) => (one && other ? inTime(one, other) : 0));
}

/** Orders rows by time, and by id at the same time. */
function inTime(one: ClusterRow, other: ClusterRow): number {
  return one.occurredAt.getTime() - other.occurredAt.getTime() || (one.id < other.id ? -1 : 1);
}

function cut<Row extends ClusterRow>(session: readonly Row[]): Row[][] {
  const texts = session.map(({ content }) => countsOf(wordsOf(content.slice(0, TOPIC_CHARS))));
  const tfIdf = new TfIdf(texts);
  const clusters: Row[][] = [];
  let open: Row[] = [];
  let tokens = 0;
  for (const [at, row] of session.entries()) {
    const more = estimateTokens(row.content);
    const ends =
      isAfterGap(open.at(-1), row) ||
      open.length === ROWS_MAX ||
      tokens + more > TOKENS_MAX ||
      (open.length >= ROWS_BEFORE_SHIFT && isShift(texts, tfIdf, at));
    if (open.length === 0 || ends) {
      open = [];
      tokens = 0;
      clusters.push(open);
    }
    open.push(row);
    tokens += more;
  }
  return clusters;
}

function isAfterGap(last: ClusterRow | undefined, next: ClusterRow): boolean {
  return last !== undefined && next.occurredAt.getTime() - last.occurredAt.getTime() > GAP_MS;
}

/** Reports whether the rows from `at` on are about something else than those before. Too few of them show nothing. */
function isShift(texts: readonly Counts[], tfIdf: TfIdf, at: number): boolean {
  const next = texts.slice(at, at + WINDOW);
  if (next.length < WINDOW) return false;
  const cosine = tfIdf.cosine(sumOf(texts.slice(at - WINDOW, at)), sumOf(next));
  return cosine !== undefined && cosine < ALIKE;
}

const QUIET_MS = 10 * MINUTE_MS;
const SMALL_ROWS = 3;
const SMALL_CHARS = 200;
const SMALL_WAIT_MS = 24 * 60 * MINUTE_MS;

/**
 * Reports whether a cluster can be expected to stay as it is. One whose last row is younger than ten minutes may go on; a
 * small one, of fewer than 3 rows and 200 characters of a person, waits until it is 24 hours old. `now` is in
 * milliseconds.
 */
export function isSettled(cluster: readonly ClusterRow[], now: number): boolean {
  const age = now - (cluster.at(-1)?.occurredAt.getTime() ?? now);
  const chars = cluster.reduce((sum, { content, isHuman }) => sum + (isHuman ? content.length : 0), 0);
  const isSmall = cluster.length < SMALL_ROWS && chars < SMALL_CHARS;
  return age >= (isSmall ? SMALL_WAIT_MS : QUIET_MS);
}

/** The first rows, as many as one cluster may have: an episode that a client made may have more. */
export function bounded<Row extends ClusterRow>(rows: readonly Row[]): Row[] {
  let tokens = 0;
  const end = rows.findIndex(({ content }, at) => {
    tokens += estimateTokens(content);
    return at > 0 && (at === ROWS_MAX || tokens > TOKENS_MAX);
  });
  return rows.slice(0, end < 0 ? rows.length : end);
}
