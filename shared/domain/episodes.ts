import type { DERIVED_ORIGINS } from '../schemas/limits.ts';
import { shortened } from '../text/cut.ts';
import { masked } from '../text/secrets.ts';
import { sumOf, TfIdf } from '../text/tf-idf.ts';
import { countsOf, wordsOf } from '../text/words.ts';
import type { ClusterRow } from './clusters.ts';
import { displayed } from './model-text.ts';
import { LOCAL } from './provider-call.ts';

/** A raw row as promotion reads it. */
export interface RawToPromote extends ClusterRow {
  role: string | null;
  origin: string;
  agent: string | null;
}

/** The text of an episode. */
export interface EpisodeText {
  title: string;
  summary: string;
  tags: string[];
  /** From 0 to 1. */
  salience: number;
}

/** An episode that promotion makes of rows, and its author. */
export interface EpisodeDraft extends EpisodeText {
  origin: Extract<(typeof DERIVED_ORIGINS)[number], 'model' | 'extractive'>;
  model: string;
}

const SALIENCE = 0.5;

/** An episode without a model; undefined when its rows have nothing that can be shown. */
export function extractiveDraft(rows: readonly RawToPromote[]): EpisodeDraft | undefined {
  const text = extractedFrom(rows);
  return text && { ...text, tags: [], salience: SALIENCE, origin: 'extractive', model: LOCAL };
}

export const TITLE_MAX = 200;
export const SUMMARY_MAX = 8000;
const LINE_MAX = 1000;
/** Lines that can become the title. */
const LINES_MAX = 1000;
/** A line of fewer words says too little to stand for the rest. */
const WORDS_MIN = 3;

/**
 * A title and a summary without a model: the line of a person that is most like all that the person said (the centroid:
 * Radev et al. 2004), and the first and the last of these lines. Of rows that no person wrote, their own lines. Secrets are
 * masked. Undefined when nothing in them can be shown.
 */
export function extractedFrom(rows: readonly ClusterRow[]): { title: string; summary: string } | undefined {
  const human = linesOf(rows.filter(({ isHuman }) => isHuman));
  const lines = human.length > 0 ? human : linesOf(rows);
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const persons = rows.filter(({ isHuman }) => isHuman).length;
  const counts = `${rows.length} ${rows.length === 1 ? 'message' : 'messages'}, ${persons} by the person.`;
  const quoted = first === last ? [`“${first}”`] : [`First: “${first}”`, `Last: “${last}”`];
  return {
    title: shortened(mostSalient(lines.slice(0, LINES_MAX)), TITLE_MAX),
    summary: [counts, ...quoted].join('\n'),
  };
}

function linesOf(rows: readonly ClusterRow[]): string[] {
  const lines = rows.flatMap(({ content }) => masked(content).split('\n'));
  return lines.map((line) => shortened(displayed(line).trim(), LINE_MAX)).filter((line) => line !== '');
}

function mostSalient(lines: readonly string[]): string {
  const counts = lines.map((line) => countsOf(wordsOf(line)));
  const tfIdf = new TfIdf(counts);
  const centroid = sumOf(counts);
  const scores = counts.map((one) => (one.size < WORDS_MIN ? 0 : (tfIdf.cosine(one, centroid) ?? 0)));
  return lines[scores.indexOf(Math.max(...scores))] ?? '';
}
