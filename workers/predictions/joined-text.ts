import { isWordBoundary } from '../../shared/text/phrases.ts';
import { lastWordOf, mustGoOn } from './known-words.ts';

/** Finds words also in scripts without spaces. */
export const WORD_SEGMENTER = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Returns how much of the text's beginning repeats the draft's end, in UTF-16 units: the longest overlap that begins at
 * a word of the draft, in any case and with any white space.
 */
export function repeatedLength(draft: string, text: string): number {
  const draftEnd = draft.trimEnd();
  const begin = text.length - text.trimStart().length;
  // After a space a word that differs in its accents is another word: `la`, ` là`.
  const keepsAccents = begin > 0;
  const said = foldPositions(text.slice(begin), keepsAccents);
  const typed = foldPositions(draftEnd, keepsAccents);
  if (!overlap(typed.folded, said.folded)) return 0;
  let at = 0;
  for (const { index, isWordLike } of WORD_SEGMENTER.segment(draftEnd)) {
    if (!isWordLike) continue;
    while ((typed.ends[at] ?? index + 1) <= index) at++;
    const length = typed.folded.length - at;
    if (length > said.folded.length || !said.folded.startsWith(typed.folded.slice(at))) continue;
    const end = said.ends[length - 1];
    // A character of the text may fold to more than the draft has of it.
    if (end === undefined || said.ends[length] === end) continue;
    if (isRepetition(draft, text, begin + end, draftEnd.slice(index))) return begin + end;
  }
  return 0;
}

/**
 * Reports whether an end of `before` that may begin with a word begins `after`. Spares most answers the search for
 * words: no word begins between two ASCII letters or digits.
 */
function overlap(before: string, after: string): boolean {
  for (let at = Math.max(0, before.length - after.length); at < before.length; at++)
    if (before[at] === after[0] && !IN_WORD.test(before.slice(Math.max(0, at - 1), at + 1)))
      if (after.startsWith(before.slice(at))) return true;
  return false;
}

const IN_WORD = /^[a-z0-9]{2}$/;

/** The next word may begin like the draft's last: `we`, ` were`. One that is whole is then no begun word. */
function isRepetition(draft: string, text: string, end: number, overlap: string): boolean {
  if (isWordBoundary(text, end)) return true;
  if (/\s$/.test(draft)) return false;
  if (/^\S/.test(text) || /\S\s+\S/.test(overlap)) return true;
  return !/^\s*\n/.test(text) && !mustGoOn(draft) && /^\p{L}{2,}$/u.test(lastWordOf(draft));
}

/** Folds case, accents or their encoding, quotation marks and white space, and notes where each folded unit ends. */
function foldPositions(text: string, keepsAccents: boolean): { folded: string; ends: number[] } {
  let folded = '';
  let at = 0;
  const ends: number[] = [];
  for (const point of text) {
    at += point.length;
    const isSpace = /\s/.test(point);
    const units = isSpace ? ' ' : point < '\x80' ? point.toLowerCase() : foldCase(point, keepsAccents);
    if (units === '' || (isSpace && folded.endsWith(' '))) ends[Math.max(0, ends.length - 1)] = at;
    else {
      folded += units;
      for (let unit = 0; unit < units.length; unit++) ends.push(at);
    }
  }
  return { folded, ends };
}

/** Upper case makes ß and ss equal, and the forms of sigma (σ, ς). */
function foldCase(point: string, keepsAccents: boolean): string {
  if (/[‘’]/.test(point)) return "'";
  if (/[“”]/.test(point)) return '"';
  const folded = point.normalize('NFD').toUpperCase().toLowerCase();
  return keepsAccents ? folded : folded.replace(/[\u0300-\u036f]/g, '');
}
