import { removeUnrecallable } from './recallable.ts';
import { maskSecrets } from './secrets.ts';
import { normalForm, UNSPACED, UNSPACED_CHARACTER } from './words.ts';

/*
 * A text is read as lines of words. A run of white space becomes one space. Anything that no completion may cross (a
 * line break, an invisible character, a secret) becomes a line feed. A phrase begins at the start of a word and stays
 * within its line. Another phrase begins with the line feed before each line, because the beginning of a line says much
 * about what follows.
 */

const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])+`;
const WORD = `[${UNSPACED}]\\p{M}*|${LETTERS}(?:['’]${LETTERS})*`;
const WORDS = new RegExp(WORD, 'gu');
const BEGUN_WORD = new RegExp(`(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_]$`, 'u');
const REST_OF_WORD = new RegExp(`^['’]?${LETTERS}(?:['’]${LETTERS})*`, 'u');
const SYMBOL =
  '(?:\\p{RI}\\p{RI}|[^\\s\\p{L}\\p{N}_][\\p{M}\\p{EMod}]*(?:\\u200d[^\\s\\p{L}\\p{N}_][\\p{M}\\p{EMod}]*)*)';
const NEXT_WORD = new RegExp(`^ ?(?:${WORD}|${SYMBOL})`, 'u');

/** Numbers of at least twelve digits, such as those of accounts and cards. */
const LONG_NUMBER = /\d(?:[ -]?\d){11,}/g;

export function phraseLinesOf(text: string): string {
  return linesOf(removeSecrets(text));
}

/** Replaces secrets by NUL, which ends a line. Keeps the rest of a link or an address that contains a secret. */
const removeSecrets = (text: string) => maskSecrets(text, () => '\0');

function linesOf(text: string): string {
  return normalForm(text, 'NFC')
    .replace(LONG_NUMBER, '\n')
    .replace(/[\r\u2028\u2029]/g, '\n')
    .replace(/[^\P{C}\s\u200d]/gu, '\n')
    .replace(/[^\S\n ]/g, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n[\n ]*/g, '\n');
}

/** Leaves a character as it is if its lower case has another length, so that no character moves. */
export function lowerCaseInPlace(lines: string): string {
  const lower = lines.toLowerCase();
  if (lower.length === lines.length) return lower;
  const folds = (point: string) => point.toLowerCase().length === point.length;
  return [...lines].map((point) => (folds(point) ? point.toLowerCase() : point)).join('');
}

export interface DraftEnd {
  /** True if the last word may be unfinished. */
  begun: boolean;
  /**
   * Ends of the draft in lower case. The first is the unfinished word or ''. Each next one has one more word before it;
   * the start of the line counts as a word.
   */
  tails: string[];
}

/** Maximum number of a draft's last whole words by which continuations are looked up. */
const CONTEXT_WORDS = 4;

export function draftEndOf(draft: string): DraftEnd {
  const lines = `\n${phraseLinesOf(draft).trimStart()}`;
  const line = lowerCaseInPlace(lines.slice(lines.lastIndexOf('\n')));
  const begun = BEGUN_WORD.test(line);
  const starts = [0, ...wordStarts(line)].reverse();
  const contexts = starts.slice(0, CONTEXT_WORDS + Number(begun)).map((start) => line.slice(start));
  return { begun, tails: begun ? contexts : ['', ...contexts] };
}

function wordStarts(line: string): number[] {
  return Array.from(line.matchAll(WORDS), ({ index }) => index);
}

/** Returns the rest of the unfinished word, or the next word with its space; '' at the end of the line. */
export function nextWord(following: string, begun: boolean): string {
  return (begun && REST_OF_WORD.exec(following)?.[0]) || (NEXT_WORD.exec(following)?.[0] ?? '');
}

/** A word may start after a character outside words, and anywhere in a script without spaces. */
export function isWordStart(lines: string, at: number): boolean {
  return !/[\p{L}\p{M}\p{N}_]/u.test(lines.charAt(at - 1)) || UNSPACED_CHARACTER.test(lines.charAt(at));
}

/** `place` identifies the phrase in its text. */
export interface Phrase {
  place: number;
  /** In lower case. */
  words: string;
  /** The phrase as it was written; null if it was written in lower case. */
  written: string | null;
}

/** UTF-16 units: enough for the words by which a phrase is looked up, and for their continuation. */
const PHRASE_MAX = 64;
/** Maximum length of a text that counts as typed, in UTF-16 units. A longer one was pasted. */
const TYPED_MAX = 2000;
/** Maximum number of phrases of a text: enough for `TYPED_MAX` units of most languages with spaces between words. */
const PHRASES_MAX = 400;

/** Returns phrases that a completion may repeat, those from the beginnings of lines first; none for a pasted text. */
export function phrasesOf(text: string): Phrase[] {
  if (text.length > TYPED_MAX) return [];
  // Removes secrets first: a secret from which something else has been removed is no longer recognised.
  const lines = `\n${linesOf(removeUnrecallable(removeSecrets(text))).trim()}`;
  const lower = lowerCaseInPlace(lines);
  const breaks = Array.from(lines.matchAll(/\n(?!$)/g), ({ index }) => index);
  return [...breaks, ...wordStarts(lines)].slice(0, PHRASES_MAX).map((place) => {
    const lineEnd = lines.indexOf('\n', place + 1);
    const end = Math.min(lineEnd < 0 ? lines.length : lineEnd, place + PHRASE_MAX);
    const [words, written] = [lower, lines].map((line) =>
      line.slice(place, end).replace(/[\ud800-\udbff]$/, ''),
    );
    return { place, words: words ?? '', written: written === words ? null : (written ?? null) };
  });
}
