import { detailsOf } from '../../text/details.ts';
import { wordSet, wordsOf } from '../../text/words.ts';
import {
  CHANGE_WORDS,
  COMMON_WORDS,
  meaningfulWordsIn,
  normalizeWords,
  stemOf,
  valueWordsIn,
  withoutGivenUpPhrases,
} from './compare.ts';
import { sentencesOf, spokenParts } from './source.ts';
import { slotOf } from './topics.ts';

/*
 * A statement that a person forgot is not kept. What is kept are hashes of its forms. Two statements with a common form
 * say the same, in the sense of `isNearDuplicate` or `isSameValue`.
 */

interface Stated {
  text: string;
  slot: string | null;
}

/** Forms under which a statement is forgotten. */
export function forgottenForms(stated: Stated): string[] {
  return [
    ...wordingForms(stated.text),
    ...valuesOf(stated).flatMap(({ whole, parts }) => [
      `value ${whole}`,
      ...parts.map((part) => `part ${part}`),
    ]),
  ];
}

/**
 * Forms of which a forgotten statement has one if it says the same. A value is the same if all of its words are in the
 * other one, as in `isSameValue`: `Vienna`, `Vienna, Austria`.
 */
export function lookedUpForms(stated: Stated): string[] {
  return [
    ...wordingForms(stated.text),
    ...valuesOf(stated).flatMap(({ whole, parts }) => [
      `part ${whole}`,
      ...[whole, ...parts].map((one) => `value ${one}`),
    ]),
  ];
}

/** Verbs of `COMMON_WORDS` that make a difference where little else is said: `I use Docker`, `I like Docker`. */
const VERB_STEMS = wordSet(
  'us prefer lik lov want run work writ tak liv call nam mak keep giv get switch mov chang',
);
const VERB_ENDING = /(?:ing|ed|es|s|e)$/;
const VERB_STEM_CHARS = 6;
/** So many meaningful words make a statement, whatever verb joins them. */
const TELLING_WORDS = 3;

/** Says since when something holds, which makes no other value: `I live in Vienna since 2019`. */
const SINCE = /(?<!\p{L})(?:since|seit|depuis|desde) (?:(?:\p{L}+ )?\d{1,4}|\p{L}+)(?![\p{L}\d])\s?/giu;
/** A number whose groups people separate as they like: `555 1234`, `555-1234`. */
const LONG_NUMBER = /\d[\d ()./-]{5,}\d/g;
const joinNumbers = (text: string) => text.replaceAll(LONG_NUMBER, (number) => number.replaceAll(/\D/g, ''));

export function wordingForms(said: string): string[] {
  const text = joinNumbers(said);
  const words = meaningfulWordsIn(text);
  const details = [...detailsOf(text)].sort();
  const left = meaningfulWordsIn(withoutGivenUpPhrases(text));
  const parts = words.length < TELLING_WORDS ? [shortFormOf(text)] : [words.join(' '), left.join(' ')];
  return parts[0] === '' ? [] : [`words ${[...parts, details.join(' ')].join('|')}`];
}

function shortFormOf(text: string): string {
  const words = wordsOf(text).flatMap((word) => {
    const verb = word.replace(VERB_ENDING, '').slice(0, VERB_STEM_CHARS);
    if (VERB_STEMS.has(verb)) return verb;
    return COMMON_WORDS.has(word) ? [] : stemOf(word);
  });
  return words.length === 0 ? normalizeWords(text) : words.join(' ');
}

/** Values of more words have no parts. */
const VALUE_WORDS_MAX = 8;

function valuesOf({ text: said, slot }: Stated): { whole: string; parts: string[] }[] {
  const text = joinNumbers(said).replaceAll(SINCE, '');
  const slots = new Set([slot, slotOf(text)].filter((one) => one !== null));
  const details = [...detailsOf(withoutGivenUpPhrases(text))].sort().join(' ');
  return [...slots].flatMap((name) => {
    // Sorted, because people and models put a value in other places.
    const words = [...valueWordsIn(text, name)].sort();
    if (words.length === 0) return [];
    const form = (some: readonly string[]) => `${name}|${some.join(' ')}|${details}`;
    const hasParts = words.length <= VALUE_WORDS_MAX && !CHANGE_WORDS.test(text);
    return { whole: form(words), parts: hasParts ? properParts(words).map(form) : [] };
  });
}

/** Returns the words without one of them, and without any two, twice. With fewer, it would be another value. */
function properParts(words: readonly string[]): string[][] {
  const parts = words.flatMap((_, one) =>
    words.map((_word, other) => words.filter((_left, place) => place !== one && place !== other)),
  );
  return parts.filter(({ length }) => length > 0);
}

const CONJUNCTION = /[,;]? (?:and|but|und|aber|et|mais|y|pero) |; /i;
const CLAUSE_WORDS_MIN = 3;
const CLAUSES_MAX = 100;

/** Forms of what the person says in a raw row: its sentences, and the parts that conjunctions join. */
export function formsSaidIn(content: string): string[] {
  const clauses = spokenParts(content)
    .flatMap(sentencesOf)
    .flatMap((sentence) => [...new Set([sentence, ...sentence.split(CONJUNCTION)])])
    .filter((clause) => wordsOf(clause).length >= CLAUSE_WORDS_MIN);
  return clauses.slice(0, CLAUSES_MAX).flatMap((text) => forgottenForms({ text, slot: null }));
}
