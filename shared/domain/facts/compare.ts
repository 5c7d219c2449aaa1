import { similarity } from '../../text/similarity.ts';
import { wordsOf } from '../../text/words.ts';

/** Words that a statement has whatever its value is. */
export const COMMON = wordSet(`
  i me my mine we us our ours you your yours he she they them their it its this that these those there
  a an the and or but so as at by for from in into of on onto to with within without over under per
  am is are was were be been being do does did have has had will would can could should may might must
  always usually mostly mainly generally normally now still only ever never no not also just please too very all any
  other others else everything anything whatever everywhere year day days time one ones give get make keep keeps
  use uses used using prefer prefers preferred like likes liked love loves want wants run runs work works write writes
  take takes live lives call called name named switched moved changed gone went says said person user set choice
  instead rather than longer before more most almost while when where who which what home main mainly favourite favorite
  new own because since mind here good better best code`);

/** Words that turn a statement into its opposite. */
const NEGATIONS = wordSet(`
  no not never none nothing neither nor without cannot dont doesnt didnt isnt arent wont cant stopped avoid avoids except
  kein keine keinen nicht nie niemals ohne ne pas jamais sans ni sin nunca non mai senza`);
/** Words for numbers, days and months, and what orders them. */
const NUMBERS = wordSet(`
  zero one two three four five six seven eight nine ten eleven twelve first second third once twice half
  monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
  january february march april may june july august september october november december
  before after`);

function wordSet(words: string): Set<string> {
  return new Set(words.trim().split(/\s+/));
}

const STEM = 5;

/** A word by its first letters, so that its forms count as one. */
export function stemOf(word: string): string {
  return word.slice(0, STEM);
}

/** A text as it is compared: its words, separated by single spaces. */
export function normalized(text: string): string {
  return wordsOf(text).join(' ');
}

/** Things that somebody has left: `from npm to …`, `moved from npm`, `instead of npm`, `no longer npm`. */
const LEFT = [
  /\bfrom\s+[^\s,.;!?](?:[^,.;!?]{0,58}?[^\s,.;!?])??\s+(?=to\b)/gi,
  /\b(?:moved|switched|gone|changed|migrated|away)\s+from\s+[^,.;!?]*/gi,
  /\b(?:instead of|rather than|in place of|no longer|formerly|previously|stopped|over|not)\b[^,.;!?]*/gi,
  /\b(?:replac(?:e|es|ed|ing)|dropped|quit)\s+\S+/gi,
];
const FROM_NOW_ON = /\bfrom now on\b/gi;

/** A statement without what it says was left. */
function withoutFormer(text: string): string {
  return LEFT.reduce((left, pattern) => left.replaceAll(pattern, ' '), text.replaceAll(FROM_NOW_ON, ' '));
}

/** The similarity above which two statements say the same, if their details are the same. */
const SAME = 0.85;

/**
 * Reports whether two statements say the same in nearly the same words. Another number, date or negation is another
 * statement, and so is another word that means something: `npm` and `pnpm` are all but alike. So is a change back, which
 * has the words of the change: `npm instead of pnpm`.
 */
export function isNearDuplicate(a: string, b: string): boolean {
  return (
    similarity(a, b) >= SAME &&
    haveSameDetails(a, b) &&
    haveSameMeanings(a, b) &&
    haveSameMeanings(withoutFormer(a), withoutFormer(b))
  );
}

function haveSameMeanings(a: string, b: string): boolean {
  return meaningsOf(a).symmetricDifference(meaningsOf(b)).size === 0;
}

/** The stems of the words that not every statement has. */
function meaningsOf(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => !COMMON.has(word))
      .map(stemOf),
  );
}

/** The words that turn a statement into another one although nearly all of it is the same. */
export function detailsOf(text: string): Set<string> {
  const words = wordsOf(text.replaceAll(/['’]/g, ''));
  return new Set(words.filter((word) => /\p{N}/u.test(word) || NEGATIONS.has(word) || NUMBERS.has(word)));
}

export function haveSameDetails(a: string, b: string): boolean {
  return detailsOf(a).symmetricDifference(detailsOf(b)).size === 0;
}

const CHANGE = /\b(?:now|switch(?:ed)?|moved|changed|gone|migrated|instead|no longer|any ?more|replaced)\b/i;

/**
 * Reports whether two statements that fill the same slot name the same value: what is left of one, without the words that
 * any statement has and those of the slot, is in the other one. A statement of a change may name the former value
 * anywhere, so there all of it must be the same. When in doubt they differ, and the newer one supersedes.
 */
export function isSameValue(a: string, b: string, slot: string): boolean {
  const topic = new Set(wordsOf(slot).map(stemOf));
  const [one, other] = [valuesIn(a, topic), valuesIn(b, topic)];
  if (one.size === 0 || other.size === 0) return false;
  if (!haveSameDetails(withoutFormer(a), withoutFormer(b))) return false;
  if (CHANGE.test(a) || CHANGE.test(b)) return one.symmetricDifference(other).size === 0;
  return one.isSubsetOf(other) || other.isSubsetOf(one);
}

function valuesIn(text: string, topic: ReadonlySet<string>): Set<string> {
  const words = wordsOf(withoutFormer(text)).filter((word) => !COMMON.has(word));
  return new Set(words.filter((word) => !topic.has(stemOf(word))));
}

/** Words of a value, in a frame of other words. */
const VALUE_MAX = 3;
/** Words for something that holds beside something else. */
const BESIDE = /\b(?:also|too|as well|besides|both|sometimes|in addition)\b/i;

/**
 * Reports whether two statements differ in nothing but the value that they give to a slot: `Uses npm as package manager`
 * and `Uses pnpm as package manager`, of `tool.package_manager`. Some of the words that they share must name the slot;
 * else `Likes tea` would be another value of what `Likes climbing` settles.
 */
export function isOtherValue(a: string, b: string, slot: string): boolean {
  if (BESIDE.test(a) || BESIDE.test(b)) return false;
  const [one, other] = [wordsOf(a), wordsOf(b)];
  const start = countSame(one, other);
  const end = countSame(one.slice(start).toReversed(), other.slice(start).toReversed());
  const values = [one, other].map((words) => words.slice(start, words.length - end));
  const isValue = (words: readonly string[]) =>
    words.length > 0 &&
    words.length <= VALUE_MAX &&
    !words.some((word) => NEGATIONS.has(word)) &&
    words.some((word) => !COMMON.has(word));
  if (!values.every(isValue)) return false;
  const frame = new Set([...one.slice(0, start), ...one.slice(one.length - end)].map(stemOf));
  const named = wordsOf(slot.slice(slot.lastIndexOf('.') + 1).replaceAll('_', ' '));
  return named.length > 0 && named.every((word) => frame.has(stemOf(word)));
}

/** Counts the words that are the same from the first one on. */
function countSame(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((word, at) => word !== other[at]);
  return differs < 0 ? one.length : differs;
}
