import { removeUnrecallable } from './recallable.ts';
import { maskSecrets } from './secrets.ts';
import { normalForm, UNSPACED_SCRIPTS, wordsOf } from './words.ts';

/*
 * A text is split into lines. A line ends at a line break and wherever a completion must not continue, such as at a
 * secret or an invisible character. A phrase starts at a word and stays within its line. One more phrase per line
 * starts with the line feed before it, because the beginning of a line says much about what follows.
 */

const LETTERS = `(?:(?![${UNSPACED_SCRIPTS}])[\\p{L}\\p{M}\\p{N}_])+`;
const WORD = `[${UNSPACED_SCRIPTS}]\\p{M}*|${LETTERS}(?:['’]${LETTERS})*`;
const WORDS = new RegExp(WORD, 'gu');
const BEGUN_WORD = new RegExp(`(?![${UNSPACED_SCRIPTS}])[\\p{L}\\p{M}\\p{N}_]$`, 'u');
const REST_OF_WORD = new RegExp(`^['’]?${LETTERS}(?:['’]${LETTERS})*`, 'u');
const SYMBOL =
  '(?:\\p{RI}\\p{RI}|[^\\s\\p{L}\\p{N}_][\\p{M}\\p{EMod}]*(?:\\u200d[^\\s\\p{L}\\p{N}_][\\p{M}\\p{EMod}]*)*)';
const NEXT_WORD = new RegExp(`^ ?(?:${WORD}|${SYMBOL})`, 'u');

/** Numbers of at least twelve digits, such as those of accounts and cards. */
const LONG_NUMBER = /\d(?:[ -]?\d){11,}/g;

const MASK = /\[masked [a-z ]{1,20}\]/g;

export function phraseLinesOf(text: string): string {
  return linesOf(removeSecrets(text));
}

/** Returns the lines of a text of memory without what no completion may reveal. */
export function recallableLinesOf(text: string): string {
  // Removes secrets first: `removeUnrecallable` could remove a part of a secret and leave the rest unrecognisable.
  return linesOf(removeUnrecallable(removeSecrets(text)));
}

/** Replaces secrets by NUL, which ends a line. Keeps the rest of a link or an address that contains a secret. */
const removeSecrets = (text: string) => maskSecrets(text, () => '\0');

function linesOf(text: string): string {
  return normalForm(text, 'NFC')
    .replace(LONG_NUMBER, '\n')
    .replace(MASK, '\n')
    .replace(/[\r\u2028\u2029]/g, '\n')
    .replace(/[^\P{C}\s\u200d]/gu, '\n')
    .replace(/[^\S\n ]/g, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n[\n ]*/g, '\n');
}

/** Keeps each character whose lower case has another length, so that all positions stay the same. */
export function lowerCaseInPlace(lines: string): string {
  const lower = lines.toLowerCase();
  if (lower.length === lines.length) return lower;
  const folds = (point: string) => point.toLowerCase().length === point.length;
  return [...lines].map((point) => (folds(point) ? point.toLowerCase() : point)).join('');
}

export interface DraftEnd {
  /** True if the draft's last word may be unfinished. False after a character of a script without spaces. */
  begun: boolean;
  /**
   * Ends of the draft's last line in lower case, each one word longer: for `in my wor`, these are `wor`, `my wor`, `in
   * my wor` and `\nin my wor`. If no word is unfinished, the first is ''.
   */
  tails: string[];
  /** The whole words at the draft's end that only spaces separate, as `wordRunsOf` gives them; null inside an address. */
  run: string[] | null;
  /** The unfinished word as it was typed, or ''. */
  typed: string;
  isAfterSpace: boolean;
  /** True if the last whole words are in capitals, or all of the line. */
  isInCapitals: boolean;
  /** True if a word within a sentence begins with a capital. */
  hasNames: boolean;
  /** True if the draft's apostrophes are typographic. */
  isCurly: boolean;
}

/** Maximum number of whole words at a draft's end by which its continuations are looked up. */
const CONTEXT_WORDS = 4;

export function draftEndOf(draft: string): DraftEnd {
  const lines = `\n${phraseLinesOf(draft).trimStart()}`;
  const written = lines.slice(lines.lastIndexOf('\n'));
  const line = lowerCaseInPlace(written);
  const begun = BEGUN_WORD.test(line);
  const starts = [0, ...wordStarts(line)].reverse();
  const contexts = starts.slice(0, CONTEXT_WORDS + Number(begun)).map((start) => line.slice(start));
  const typed = begun ? written.slice(written.length - (contexts[0]?.length ?? 0)) : '';
  const before = written.slice(0, written.length - typed.length);
  return {
    begun,
    tails: begun ? contexts : ['', ...contexts],
    run: lastRunOf(before),
    typed,
    isAfterSpace: /\s$/.test(before),
    isInCapitals: CAPITALS_END.test(before) || CAPITALS_LINE.test(written),
    hasNames: /[\p{Ll},] \p{Lu}\p{Ll}/u.test(before),
    isCurly: /\p{L}’\p{L}/u.test(lines) && !/\p{L}'\p{L}/u.test(lines),
  };
}

const CAPITALS_END = /(?<![\p{L}\p{N}])\p{Lu}{2,}[^\p{L}\p{N}]+\p{Lu}{2,}[^\p{L}\p{N}]*$/u;

const CAPITALS_LINE = /^\P{Ll}*\p{Lu}\P{L}+\p{Lu}{2,}$/u;

/** Begins the run of words with which a line begins. */
export const LINE_START = '^';

const OPENING = /^[\s\p{Ps}\p{Pi}"'¿¡-]*$/u;

/** Splits lines into runs of words between which there are only spaces, in lower case. */
export function wordRunsOf(lines: string): string[][] {
  const runs: string[][] = [];
  let end = -1;
  for (const { 0: word, index } of lines.matchAll(WORDS)) {
    const gap = lines.slice(end, index);
    if ((end < 0 || gap.includes('\n')) && OPENING.test(gap)) runs.push([LINE_START]);
    else if (gap !== ' ') runs.push([]);
    runs.at(-1)?.push(lowerCaseInPlace(word).replace('’', "'"));
    end = index + word.length;
  }
  return runs;
}

function lastRunOf(text: string): string[] | null {
  if (OPENING.test(text)) return [LINE_START];
  if (/[^\p{L}\p{M}\p{N}_\s\p{Ps}\p{Pi}"]$/u.test(text)) return null;
  return /[\p{L}\p{M}\p{N}_] ?$/u.test(text) ? (wordRunsOf(text).at(-1) ?? []) : [];
}

function wordStarts(line: string): number[] {
  return Array.from(line.matchAll(WORDS), ({ index }) => index);
}

/** Returns the rest of the unfinished word, or the next word and the space before it; '' at the end of the line. */
export function nextWord(following: string, begun: boolean): string {
  return (begun && REST_OF_WORD.exec(following)?.[0]) || (NEXT_WORD.exec(following)?.[0] ?? '');
}

const WORD_START = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_])|(?=[${UNSPACED_SCRIPTS}])`, 'uy');

/** Returns true after a character that belongs to no word and, in scripts without spaces, before every character. */
export function isWordStart(lines: string, at: number): boolean {
  WORD_START.lastIndex = at;
  return WORD_START.test(lines);
}

/** Returns true unless the characters before and after a place belong to the same word. */
export function isWordBoundary(lines: string, at: number): boolean {
  return isWordStart(lines, at) || !/^[\p{L}\p{M}\p{N}_]/u.test(lines.slice(at, at + 2));
}

export interface Phrase {
  offset: number;
  /** In lower case. */
  words: string;
  /** The phrase as it was written; null if it was written in lower case. */
  written: string | null;
  /** Hash of the words of its line: the same for a line that was written again. */
  line: number;
}

/** Maximum length of a phrase in UTF-16 units: enough for the words that are looked up and for a completion. */
const PHRASE_CHARS_MAX = 64;
/** Reports whether a phrase of this length may end inside a word. One that would split a surrogate pair is shorter. */
export const isCutPhrase = (length: number) => length >= PHRASE_CHARS_MAX - 1;
/** Maximum length of a text that counts as typed, in UTF-16 units. A longer one was pasted. */
const TYPED_CHARS_MAX = 2000;
/** Maximum number of phrases per text. In most languages with spaces, `TYPED_CHARS_MAX` units contain fewer words. */
const PHRASES_MAX = 400;

/** Returns the phrases that a completion may repeat, beginnings of lines first; none for a pasted text. */
export function phrasesOf(text: string): Phrase[] {
  if (text.length > TYPED_CHARS_MAX) return [];
  const lines = `\n${recallableLinesOf(text).trim()}`;
  const lower = lowerCaseInPlace(lines);
  const breaks = Array.from(lines.matchAll(/\n(?!$)/g), ({ index }) => index);
  const endedLines = `${lines}\n`;
  const lineEndAfter = (offset: number) => endedLines.indexOf('\n', offset + 1);
  const lineHashes = new Map(
    breaks.map((start) => [lineEndAfter(start), hashOf(lower.slice(start, lineEndAfter(start)))]),
  );
  return [...breaks, ...wordStarts(lines)].slice(0, PHRASES_MAX).map((offset) => {
    const lineEnd = lineEndAfter(offset);
    const end = Math.min(lineEnd, offset + PHRASE_CHARS_MAX);
    const [words, written] = [lower, lines].map((line) =>
      line.slice(offset, end).replace(/[\ud800-\udbff]$/, ''),
    );
    return {
      offset,
      words: words ?? '',
      written: written === words ? null : (written ?? null),
      line: lineHashes.get(lineEnd) ?? 0,
    };
  });
}

/**
 * Returns a hash of a text's words, of 32 bits (FNV-1a). Texts that share one by chance count as the same, and so less
 * comes out of memory.
 */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(wordsOf(text).join(' '))) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
}
