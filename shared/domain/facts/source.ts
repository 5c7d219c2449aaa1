import { isEvidence, type SourceRow } from './statement.ts';

/** What facts are looked for in: an episode, or a fact whose text was erased, with the raw rows that it is derived from. */
export interface FactSource {
  tier: 'episode' | 'fact';
  id: string;
  /** Empty of a fact. */
  title: string;
  summary: string;
  /** When an episode ended, in milliseconds; 0 of a fact. */
  endedMs: number;
  /** Those that facts made of it are derived from. */
  episodeIds: string[];
  /** Oldest first. */
  rows: SourceRow[];
}

/** Whether a person said anything in it: nothing else can become a fact. */
export function hasEvidence({ rows }: FactSource): boolean {
  return rows.some(isEvidence);
}

/** How much of a row is shown that no person wrote: only what the person answered to. */
const OTHERS_MAX = 400;

/**
 * As many of the sources, from the first on, as have room for their rows in so many code points; at least one, which then
 * loses first what others said, and then what was said last.
 */
export function fitted(sources: readonly FactSource[], room: number): FactSource[] {
  const short = sources.map(withShortRows);
  const fitting: FactSource[] = [];
  let left = room;
  for (const source of short) {
    left -= sizeOf(source.rows);
    if (left < 0) break;
    fitting.push(source);
  }
  const [first] = short;
  return fitting.length > 0 || first === undefined ? fitting : [cutTo(first, room)];
}

function withShortRows(source: FactSource): FactSource {
  const rows = source.rows.map((row) =>
    isEvidence(row) ? row : { ...row, content: [...row.content].slice(0, OTHERS_MAX).join('') },
  );
  return { ...source, rows };
}

function cutTo(source: FactSource, room: number): FactSource {
  const kept = new Set<SourceRow>();
  let left = room;
  for (const row of [
    ...source.rows.filter(isEvidence),
    ...source.rows.filter((other) => !isEvidence(other)),
  ]) {
    left -= row.content.length;
    if (left >= 0) kept.add(row);
  }
  return { ...source, rows: source.rows.filter((row) => kept.has(row)) };
}

function sizeOf(rows: readonly SourceRow[]): number {
  return rows.reduce((size, { content }) => size + content.length, 0);
}
