import { beginning } from '../../text/cut.ts';
import { isEvidence, type SourceRow } from './statement.ts';

/** A source of facts: an episode, or a fact whose text was erased, with the raw rows that it is derived from. */
export interface FactSource {
  tier: 'episode' | 'fact';
  id: string;
  /** Empty of a fact. */
  title: string;
  summary: string;
  /** The end of an episode, in milliseconds; 0 of a fact. */
  endedMs: number;
  /** Episodes that facts made of it are derived from. */
  episodeIds: string[];
  /** Oldest first. */
  rows: SourceRow[];
}

/** Reports whether a person said anything in it: nothing else can become a fact. */
export function hasEvidence({ rows }: FactSource): boolean {
  return rows.some(isEvidence);
}

/** Length of a row that is shown where no person wrote it: the person may have answered to it. */
const OTHERS_MAX = 400;

/**
 * Takes sources from the first on, as long as their rows fit into so many code points; at least one, which then
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
    isEvidence(row) ? row : { ...row, content: beginning(row.content, OTHERS_MAX) },
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

/** Fenced blocks, forwarded messages to their end, quoted lines; in that order, because one may contain the others. */
const PASTED = [
  /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm,
  /^[ \t]*(?:-{3,} ?(?:forwarded|original) message|on .{4,80} wrote:$|begin forwarded message)[\s\S]*/gim,
  /^[ \t]*>.*$/gm,
];
/** Marks what is left out: no quote reaches over it. */
const CUT = '\f';

/**
 * The parts of a message in which a person speaks, without what is plainly pasted into it: quoted lines (`>`), fenced
 * blocks, forwarded messages. These are somebody else's words.
 */
export function spokenIn(content: string): string[] {
  const cut = PASTED.reduce((left, pattern) => left.replaceAll(pattern, CUT), content);
  return cut.split(CUT).filter((part) => part.trim() !== '');
}

/** The parts of a message that are pasted into it. */
export function pastedIn(content: string): string[] {
  return PASTED.flatMap((pattern) => content.match(pattern) ?? []);
}
