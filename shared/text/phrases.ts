import { recallable } from './recallable.ts';
import { masked } from './secrets.ts';
import { normalForm, UNSPACED } from './words.ts';

/*
 * A text is read as lines of words: white space is one space, and what nothing is continued across (a line break, an
 * invisible character, a secret) is a line feed. A phrase is what stands from the start of a word on, within its line; the
 * first one of a line also counts from the line feed on, because how a line begins says much about how it goes on.
 */

const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])+`;
const WORD = `[${UNSPACED}]\\p{M}*|${LETTERS}(?:['’]${LETTERS})*`;
const WORDS = new RegExp(WORD, 'gu');
const BEGUN_WORD = new RegExp(`(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_]$`, 'u');
const REST_OF_WORD = new RegExp(`^['’]?${LETTERS}(?:['’]${LETTERS})*`, 'u');
const SYMBOL =
  '(?:\\p{RI}\\p{RI}|[^\\s\\p{L}\\p{N}_][\\p{M}\\p{EMod}]*(?:\\u200d[^\\s\\p{L}\\p{N}_][\\p{M}\\p{EMod}]*)*)';
const NEXT_WORD = new RegExp(`^ ?(?:${WORD}|${SYMBOL})`, 'u');

/** Account, card and telephone numbers. */
const LONG_NUMBER = /\d(?:[ -]?\d){11,}/g;

/** A text as lines of words, without secrets. */
export function linesOf(text: string): string {
  return normalForm(
    masked(text, () => '\n'),
    'NFC',
  )
    .replace(LONG_NUMBER, '\n')
    .replace(/[\r\u2028\u2029]/g, '\n')
    .replace(/[^\P{C}\s\u200d]/gu, '\n')
    .replace(/[^\S\n ]/g, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n[\n ]*/g, '\n');
}

/** Lines in lower case, each character at its place. */
export function folded(lines: string): string {
  const lower = lines.toLowerCase();
  if (lower.length === lines.length) return lower;
  const folds = (point: string) => point.toLowerCase().length === point.length;
  return [...lines].map((point) => (folds(point) ? point.toLowerCase() : point)).join('');
}

/** End of a draft. */
export interface DraftEnd {
  /** True if the last word may go on. */
  begun: boolean;
  /**
   * Its end from the start of a word on, in lower case: of the begun word ('' without one), of the word before it too, and so
   * on, with at most `CONTEXT_WORDS` whole words. The start of the line counts as one.
   */
  tails: string[];
}

/** Number of whole words at the end of a draft by which what follows is looked up. */
const CONTEXT_WORDS = 4;

export function endOf(draft: string): DraftEnd {
  const lines = `\n${linesOf(draft).trimStart()}`;
  const line = folded(lines.slice(lines.lastIndexOf('\n')));
  const begun = BEGUN_WORD.test(line);
  const starts = [0, ...wordStarts(line)].reverse();
  const contexts = starts.slice(0, CONTEXT_WORDS + Number(begun)).map((start) => line.slice(start));
  return { begun, tails: begun ? contexts : ['', ...contexts] };
}

/** Matches the starts of words. */
function wordStarts(line: string): number[] {
  return Array.from(line.matchAll(WORDS), ({ index }) => index);
}

/** The next word of what follows a draft, with the space before it, or the rest of the begun one; empty at the end of the line. */
export function nextWord(following: string, begun: boolean): string {
  return (begun && REST_OF_WORD.exec(following)?.[0]) || (NEXT_WORD.exec(following)?.[0] ?? '');
}

/** True if a word may start at a place: the character before it is none of a word. */
export function isWordStart(lines: string, at: number): boolean {
  return !/[\p{L}\p{M}\p{N}_]/u.test(lines.charAt(at - 1)) || UNSPACED_CHARACTER.test(lines.charAt(at));
}
const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, 'u');

/** A phrase in lower case, and as it was written where that differs; `place` tells those of a text apart. */
export interface Phrase {
  place: number;
  words: string;
  written: string | null;
}

/** Length of a phrase, in UTF-16 units: enough for the words before what follows, and for that. */
const PHRASE_MAX = 64;
/** A longer text was pasted, not typed. */
const TYPED_MAX = 2000;

/** The phrases of a text that a person typed, without what no completion may repeat; none of one that nobody types. */
export function phrasesOf(text: string): Phrase[] {
  if (text.length > TYPED_MAX) return [];
  const lines = `\n${linesOf(recallable(text)).trim()}`;
  const lower = folded(lines);
  const breaks = Array.from(lines.matchAll(/\n(?!$)/g), ({ index }) => index);
  return [...breaks, ...wordStarts(lines)].map((place) => {
    const lineEnd = lines.indexOf('\n', place + 1);
    const end = Math.min(lineEnd < 0 ? lines.length : lineEnd, place + PHRASE_MAX);
    const [words, written] = [lower, lines].map((line) =>
      line.slice(place, end).replace(/[\ud800-\udbff]$/, ''),
    );
    return { place, words: words ?? '', written: written === words ? null : (written ?? null) };
  });
}
