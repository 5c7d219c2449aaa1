import { normalForm } from '../normal-form.ts';

/** Scripts that put no spaces between words: each of their characters counts as a word. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]\p{M}*|(?:[\p{L}\p{N}]\p{M}*)+/gu;

/** A word of a text, and where it stands there. */
export interface PlacedWord {
  word: string;
  start: number;
  end: number;
}

/** The words of a text, without regard to case, marks, punctuation and compatibility forms. */
export function placedWords(text: string): PlacedWord[] {
  return [...text.matchAll(WORDS)].map(({ 0: found, index }) => ({
    word: normalForm(found, 'NFKD').replaceAll(/\p{M}/gu, '').toLowerCase(),
    start: index,
    end: index + found.length,
  }));
}

export function wordsOf(text: string): string[] {
  return placedWords(text).map(({ word }) => word);
}

/** A text as it is compared: its words, separated by single spaces. */
export function normalized(text: string): string {
  return wordsOf(text).join(' ');
}

const STEM = 5;

/** A word by its first letters, so that its forms count as one. */
export function stemOf(word: string): string {
  return word.slice(0, STEM);
}
