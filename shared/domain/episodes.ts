import type { DERIVED_ORIGINS } from '../schemas/limits.ts';
import { truncateWithEllipsis } from '../text/cut.ts';
import { maskSecrets } from '../text/secrets.ts';
import { sumWordCounts, TfIdf } from '../text/tf-idf.ts';
import { countsOf, wordsOf } from '../text/words.ts';
import type { ClusterRow } from './clusters.ts';
import type { RawRow } from './context-rows.ts';
import { removeUndisplayable } from './model-text.ts';
import { LOCAL_MODEL } from './provider-call.ts';

export type RawToPromote = ClusterRow & Pick<RawRow, 'role' | 'origin' | 'agent'>;

export interface EpisodeText {
  title: string;
  summary: string;
  tags: string[];
  /** From 0 to 1. */
  salience: number;
}

export interface EpisodeDraft extends EpisodeText {
  origin: Extract<(typeof DERIVED_ORIGINS)[number], 'model' | 'extractive'>;
  model: string;
}

const EXTRACT_SALIENCE = 0.5;

/** Drafts an episode without a model. Returns undefined if its rows have no displayable text. */
export function extractiveDraft(rows: readonly RawToPromote[]): EpisodeDraft | undefined {
  const text = extractTitleAndSummary(rows);
  return text && { ...text, tags: [], salience: EXTRACT_SALIENCE, origin: 'extractive', model: LOCAL_MODEL };
}

export const TITLE_CHARS_MAX = 200;
export const SUMMARY_CHARS_MAX = 8000;
const LINE_CHARS_MAX = 1000;
const TITLE_LINES_MAX = 1000;
/** Minimum number of different words in a title, unless every line has fewer. */
const TITLE_WORDS_MIN = 3;

/**
 * The title is the person's line that is most similar to all their lines together (the centroid: Radev et al. 2004).
 * The lines of others are used if the person said nothing. Secrets are masked.
 */
function extractTitleAndSummary(rows: readonly ClusterRow[]): { title: string; summary: string } | undefined {
  const personLines = linesOf(rows.filter(({ isHuman }) => isHuman));
  const lines = personLines.length > 0 ? personLines : linesOf(rows);
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const personRowCount = rows.filter(({ isHuman }) => isHuman).length;
  const counts = `${rows.length} ${rows.length === 1 ? 'message' : 'messages'}, ${personRowCount} by the person.`;
  const quotedLines = first === last ? [`“${first}”`] : [`First: “${first}”`, `Last: “${last}”`];
  return {
    title: truncateWithEllipsis(mostCentralLine(lines.slice(0, TITLE_LINES_MAX)), TITLE_CHARS_MAX),
    summary: [counts, ...quotedLines].join('\n'),
  };
}

function linesOf(rows: readonly ClusterRow[]): string[] {
  const lines = rows.flatMap(({ content }) => maskSecrets(content).split('\n'));
  return lines
    .map((line) => truncateWithEllipsis(removeUndisplayable(line).trim(), LINE_CHARS_MAX))
    .filter((line) => line !== '');
}

function mostCentralLine(lines: readonly string[]): string {
  const counts = lines.map((line) => countsOf(wordsOf(line)));
  const tfIdf = new TfIdf(counts);
  const centroid = sumWordCounts(counts);
  const scores = counts.map((one) => (one.size < TITLE_WORDS_MIN ? 0 : (tfIdf.cosine(one, centroid) ?? 0)));
  return lines[scores.indexOf(Math.max(...scores))] ?? '';
}
