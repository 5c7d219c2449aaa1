import { truncate } from '../../text/cut.ts';
import { isEvidence, type SourceRow } from './statement.ts';

/** An episode, or a fact whose text was erased, with the raw rows from which it is derived. */
export interface FactSource {
  tier: 'episode' | 'fact';
  id: string;
  /** Empty for a fact. */
  title: string;
  /** Ids of the episodes that become the sources of new facts. */
  episodeIds: string[];
  /** Oldest first. */
  rows: SourceRow[];
}

/** Reports whether a source contains the person's own words: nothing else can become a fact. */
export function hasEvidence({ rows }: FactSource): boolean {
  return rows.some(isEvidence);
}

/** Rows by others are cut to this number of code points. They are kept because the person may have answered them. */
const OTHERS_CHARS_MAX = 400;

/**
 * Returns as many of the first sources as fit into `room` UTF-16 units together. If not even the first fits, cuts that
 * one: it loses rows from its end, first those by others, and the person's only if that is not enough.
 */
export function fitSources(sources: readonly FactSource[], room: number): FactSource[] {
  const short = sources.map(withShortRows);
  const fitting: FactSource[] = [];
  let roomLeft = room;
  for (const source of short) {
    roomLeft -= source.rows.reduce((length, { content }) => length + content.length, 0);
    if (roomLeft < 0) break;
    fitting.push(source);
  }
  const [first] = short;
  return fitting.length > 0 || first === undefined ? fitting : [cutToRoom(first, room)];
}

function withShortRows(source: FactSource): FactSource {
  const rows = source.rows.map((row) =>
    isEvidence(row) ? row : { ...row, content: truncate(row.content, OTHERS_CHARS_MAX) },
  );
  return { ...source, rows };
}

function cutToRoom(source: FactSource, room: number): FactSource {
  const keptRows = new Set<SourceRow>();
  let roomLeft = room;
  for (const row of [
    ...source.rows.filter(isEvidence),
    ...source.rows.filter((other) => !isEvidence(other)),
  ]) {
    roomLeft -= row.content.length;
    if (roomLeft >= 0) keptRows.add(row);
  }
  return { ...source, rows: source.rows.filter((row) => keptRows.has(row)) };
}

/** Fenced blocks, forwarded messages, quoted lines. The order matters: each may contain those after it. */
const PASTED_TEXTS = [
  /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm,
  /^[ \t]*(?:-{3,} ?(?:forwarded|original) message|on .{4,80} wrote:$|begin forwarded message)[\s\S]*/gim,
  /^[ \t]*>.*$/gm,
];
/** Marks a place where text was cut out, so that no quote spans it. */
const CUT_MARK = '\f';

/** Cuts out pasted text, which the person did not write. */
export function spokenParts(content: string): string[] {
  const cut = PASTED_TEXTS.reduce((left, pattern) => left.replaceAll(pattern, CUT_MARK), content);
  return cut.split(CUT_MARK).filter((part) => part.trim() !== '');
}

export function pastedParts(content: string): string[] {
  return PASTED_TEXTS.flatMap((pattern) => content.match(pattern) ?? []);
}

/** A dot inside a word ends no sentence. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.replace(/^[\s*•·-]+/, '').trim())
    .filter((sentence) => sentence !== '');
}
