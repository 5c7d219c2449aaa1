import { sumWordCounts, TfIdf, type WordCounts } from '../text/tf-idf.ts';
import { estimateTokens } from '../text/tokens.ts';
import { countsOf, wordsOf } from '../text/words.ts';
import type { RawRow } from './context-rows.ts';

export interface ClusterRow extends Pick<RawRow, 'id' | 'sessionId' | 'project' | 'occurredAt' | 'content'> {
  isHuman: boolean;
}

const MINUTE_MS = 60_000;
const CLUSTER_GAP_MS = 30 * MINUTE_MS;
const CLUSTER_ROWS_MAX = 40;
const CLUSTER_TOKENS_MAX = 6000;
/** Number of rows compared on either side of a possible topic shift. */
const WINDOW_ROWS = 4;
/** Cosine similarity of the rows before and after a place, below which the topic has shifted there. */
const TOPIC_SHIFT_COSINE = 0.08;
/** Minimum number of rows in a cluster before a topic shift may end it. */
const ROWS_BEFORE_TOPIC_SHIFT = 6;
/** Length of the beginning of a row that is compared, in UTF-16 units. */
const ROW_CHARS_COMPARED = 1000;

/**
 * Groups rows into stretches of work. A cluster ends with its session or project, before a gap of more than 30 minutes,
 * before a row that would take it beyond 40 rows or 6000 tokens, and, once it has six rows, where four rows have hardly
 * a word in common with the next four (TextTiling: Hearst 1997, with tf-idf). Clusters and their rows are in order of
 * time.
 */
export function clustersOf<Row extends ClusterRow>(rows: readonly Row[]): Row[][] {
  const sessions = Map.groupBy(rows.toSorted(byTime), sessionAndProject);
  const clusters = [...sessions.values()].flatMap((session) => splitSession(session));
  return byStart(clusters);
}

/** Returns a key for the rows that may share a cluster. Rows without a session may be of several projects. */
export function sessionAndProject({ sessionId, project }: ClusterRow): string {
  return JSON.stringify([sessionId, project]);
}

/** Sorts clusters by their first rows. */
export function byStart<Row extends ClusterRow>(clusters: readonly Row[][]): Row[][] {
  return clusters.toSorted(([one], [other]) => (one && other ? byTime(one, other) : 0));
}

function byTime(one: ClusterRow, other: ClusterRow): number {
  return one.occurredAt.getTime() - other.occurredAt.getTime() || (one.id < other.id ? -1 : 1);
}

function splitSession<Row extends ClusterRow>(session: readonly Row[]): Row[][] {
  const texts = session.map(({ content }) => countsOf(wordsOf(content.slice(0, ROW_CHARS_COMPARED))));
  const tfIdf = new TfIdf(texts);
  const clusters: Row[][] = [];
  let cluster: Row[] = [];
  let tokens = 0;
  for (const [at, row] of session.entries()) {
    const rowTokens = estimateTokens(row.content);
    const ends =
      isAfterGap(cluster.at(-1), row) ||
      cluster.length === CLUSTER_ROWS_MAX ||
      tokens + rowTokens > CLUSTER_TOKENS_MAX ||
      (cluster.length >= ROWS_BEFORE_TOPIC_SHIFT && isTopicShift(texts, tfIdf, at));
    if (cluster.length === 0 || ends) {
      cluster = [];
      tokens = 0;
      clusters.push(cluster);
    }
    cluster.push(row);
    tokens += rowTokens;
  }
  return clusters;
}

/** Reports whether `next` is too late to be in the cluster that `last` is in. */
export function isAfterGap(last: ClusterRow | undefined, next: ClusterRow): boolean {
  return last !== undefined && next.occurredAt.getTime() - last.occurredAt.getTime() > CLUSTER_GAP_MS;
}

function isTopicShift(texts: readonly WordCounts[], tfIdf: TfIdf, at: number): boolean {
  const next = texts.slice(at, at + WINDOW_ROWS);
  if (next.length < WINDOW_ROWS) return false;
  const cosine = tfIdf.cosine(sumWordCounts(texts.slice(at - WINDOW_ROWS, at)), sumWordCounts(next));
  return cosine !== undefined && cosine < TOPIC_SHIFT_COSINE;
}

const SETTLED_MS = 10 * MINUTE_MS;
const SMALL_CLUSTER_ROWS = 3;
const SMALL_CLUSTER_CHARS = 200;
const SMALL_CLUSTER_SETTLED_MS = 24 * 60 * MINUTE_MS;

/** Reports whether a cluster will probably not grow. `now` is in Unix milliseconds. */
export function isSettled(cluster: readonly ClusterRow[], now: number): boolean {
  const age = now - (cluster.at(-1)?.occurredAt.getTime() ?? now);
  const chars = cluster.reduce((sum, { content, isHuman }) => sum + (isHuman ? content.length : 0), 0);
  const isSmall = cluster.length < SMALL_CLUSTER_ROWS && chars < SMALL_CLUSTER_CHARS;
  return age >= (isSmall ? SMALL_CLUSTER_SETTLED_MS : SETTLED_MS);
}

/** Applies a cluster's size limits to an episode made by a client. Keeps the first row, however long it is. */
export function capToClusterSize<Row extends ClusterRow>(rows: readonly Row[]): Row[] {
  let tokens = 0;
  const end = rows.findIndex(({ content }, at) => {
    tokens += estimateTokens(content);
    return at > 0 && (at === CLUSTER_ROWS_MAX || tokens > CLUSTER_TOKENS_MAX);
  });
  return rows.slice(0, end < 0 ? rows.length : end);
}
