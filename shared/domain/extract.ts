import type { Said } from './clusters.ts';
import { displayed } from './model-text.ts';
import { sumOf, termsOf, Weights } from './terms.ts';

export const TITLE_MAX = 200;
export const SUMMARY_MAX = 8000;
const LINE_MAX = 1000;
/** Lines that can become the title. */
const LINES_MAX = 1000;
/** A line of fewer terms says too little to stand for the rest. */
const TERMS_MIN = 3;

/**
 * A title and a summary without a model: the line of a person that is most like all that the person said (the centroid:
 * Radev et al. 2004), and the first and the last of these lines. Of rows that no person wrote, their own lines. Undefined
 * when nothing in them can be shown.
 */
export function extractedFrom(rows: readonly Said[]): { title: string; summary: string } | undefined {
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

function linesOf(rows: readonly Said[]): string[] {
  const lines = rows.flatMap(({ content }) => content.split('\n'));
  return lines.map((line) => shortened(displayed(line).trim(), LINE_MAX)).filter((line) => line !== '');
}

function mostSalient(lines: readonly string[]): string {
  const terms = lines.map(termsOf);
  const weights = new Weights(terms);
  const centroid = sumOf(terms);
  const scores = terms.map((one) => (one.size < TERMS_MIN ? 0 : (weights.similarity(one, centroid) ?? 0)));
  return lines[scores.indexOf(Math.max(...scores))] ?? '';
}

/** At most so many code points; what is cut ends in an ellipsis. */
export function shortened(text: string, charactersMax: number): string {
  const points = [...text.slice(0, 2 * charactersMax + 2)];
  if (points.length <= charactersMax) return text;
  return `${points
    .slice(0, charactersMax - 1)
    .join('')
    .trimEnd()}…`;
}
