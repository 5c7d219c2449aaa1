import { type DraftEnd, LINE_START, lowerCaseInPlace, nextWord } from '../../../shared/text/phrases.ts';
import { type Background, type CommonWord, commonestWord, commonWords, type LineEnd } from './background.ts';
import type { ConfidenceBasis } from './confidence.ts';
import { type ContinuationEvidence, DRAFT_SOURCE } from './evidence.ts';

const WORDS_MAX = 12;
const GROWTH_PROBABILITY_MIN = 0.02;

const IN_WORD = /^['’\p{L}\p{M}\p{N}_]/u;

/**
 * Returns a function that yields the likeliest next word (or the one of a rank), then this word with the likeliest word
 * after it, and so on.
 */
export function continuationsOf(
  evidence: readonly ContinuationEvidence[],
  end: DraftEnd,
  backgrounds: readonly Background[],
): (rank?: number) => Generator<{ text: string; basis: ConfidenceBasis }> {
  const { begun, tails, run } = end;
  const draftLine: LineEnd = {
    words: run,
    begun: lowerCaseInPlace(end.typed).replaceAll('’', "'"),
    needsSpace: !end.isAfterSpace,
    form: formOfBegun(end),
  };
  const firstWords = likelyNextWords(evidence, commonWords(backgrounds, draftLine), begun);
  return function* (rank = 0) {
    let line = draftLine;
    let next = firstWords[rank];
    let text = '';
    let probability = 1;
    const isRest = begun && IN_WORD.test(next?.word ?? '');
    const first = {
      typed: isRest ? (tails[0]?.length ?? 0) : 0,
      inAddress: run === null,
      isOnly: firstWords.length === 1,
    };
    for (let words = 1; next !== undefined; words += 1) {
      const { word, depth, share } = next;
      const support = new Set(next.places.map(({ source }) => source)).size;
      // If memory has the words only once, suggests them only to complete an unfinished word. Otherwise an app could read
      // that text word by word.
      if (!next.isCommon && !isWrittenTwice(next.places) && !(isRest && words === 1)) return;
      if (isOnlyInDraft(next)) return;
      probability *= next.probability;
      text += word;
      yield { text, basis: { probability, support, words, length: text.length, depth, share, ...first } };
      if (words === WORDS_MAX || probability <= GROWTH_PROBABILITY_MIN) return;
      line = after(line, word);
      const places = next.places.map(({ following, minWords, maxWords, ...place }) => ({
        ...place,
        following: following.slice(word.length),
        minWords: minWords + 1,
        maxWords: maxWords + 1,
      }));
      next = likeliestAfter(line, places, backgrounds);
    }
  };
}

function likeliestAfter(
  line: LineEnd,
  places: readonly ContinuationEvidence[],
  backgrounds: readonly Background[],
): NextWord | undefined {
  const [list, ...others] = backgrounds;
  if (list === undefined || others.length > 0 || places.length > 0)
    return likelyNextWords(places, commonWords(backgrounds, line), false)[0];
  const common = commonestWord(list, line.words ?? []);
  return common && { word: ` ${common.written}`, places: [], isCommon: true, ...common };
}

const NAME = /^\p{Lu}/u;
const NO_NAME = /^\P{Lu}/u;

/**
 * Returns how a list must write the begun word. A capital within a sentence begins a name, or a noun in German; whoever
 * writes them so does not begin one with a small letter.
 */
function formOfBegun({ run, typed, isInCapitals, hasNames }: DraftEnd): RegExp | null {
  if (/^\p{Ll}/u.test(typed)) return hasNames ? NO_NAME : null;
  const isWithin = run?.some((word) => word !== LINE_START);
  return isWithin && !isInCapitals && /^\p{Lu}(?!\p{Lu})/u.test(typed) ? NAME : null;
}

/** Words before a continuation that must match if only the draft itself has it and it is no name. */
const WORDS_IN_DRAFT = 2;

/** A person rarely repeats a word at once, unless it is a name, or the words before it come again. */
function isOnlyInDraft({ places, depth, isCommon }: NextWord): boolean {
  return (
    !isCommon &&
    depth < WORDS_IN_DRAFT &&
    places.every(({ source, isName }) => source === DRAFT_SOURCE && !isName)
  );
}

/** Returns the end of a line after another word, which ends the word that is begun or follows it. */
function after({ words, begun }: LineEnd, word: string): LineEnd {
  const added = lowerCaseInPlace(word);
  const next =
    !WORD.test(word) || words === null
      ? []
      : /^\s/.test(added)
        ? [...words, ...(begun === '' ? [] : [begun]), added.trim()]
        : [...words, begun + added];
  return { words: next, begun: '', needsSpace: true, form: null };
}

const WORD = /^ ?[\p{L}\p{M}\p{N}_'’]+$/u;

/** Number of sessions in which the same line is a habit, and no message that was sent again. */
const HABIT_SESSIONS = 3;

/** Reports whether the request has the words, or the person wrote them in two lines and two sessions, or by habit. */
function isWrittenTwice(places: readonly ContinuationEvidence[]): boolean {
  if (places.some(({ remembered }) => remembered === null)) return true;
  const written = places.flatMap(({ remembered }) => remembered ?? []);
  const sessions = new Set(written.map(({ occasion }) => occasion)).size;
  return sessions >= HABIT_SESSIONS || (sessions > 1 && new Set(written.map(({ line }) => line)).size > 1);
}

interface Follower {
  word: string;
  places: ContinuationEvidence[];
  /** Number of words in the longest match between the end of the draft and a text before this word. */
  depth: number;
  /** Total weight of this word, by number of preceding words that match the draft. */
  weights: number[];
  common: CommonWord | undefined;
}

interface NextWord {
  word: string;
  places: ContinuationEvidence[];
  depth: number;
  isCommon: boolean;
  probability: number;
  /** Share of this word among the words that follow the longest match with the end of the draft. */
  share: number;
}

/**
 * Returns the likeliest words first. Interpolates the n-gram probabilities of each word (Witten and Bell 1991), of which
 * the shortest is what everybody writes. A longer context counts more if it occurred more often.
 */
function likelyNextWords(
  places: readonly ContinuationEvidence[],
  common: ReadonlyMap<string, CommonWord>,
  begun: boolean,
): NextWord[] {
  const followers = new Map<string, Follower>();
  const totals: number[] = [];
  const followerCounts: number[] = [];
  for (const [word, known] of common)
    followers.set(lowerCaseInPlace(word), { word, places: [], depth: 0, weights: [], common: known });
  for (const place of places) {
    const word = nextWord(place.following, begun);
    // Half a word, or the end of a cut text, says nothing about the next word.
    if (place.isCut && (word === '' || word === place.following)) continue;
    const key = lowerCaseInPlace(word);
    const follower = followers.get(key) ?? { word, places: [], depth: -1, weights: [], common: undefined };
    followers.set(key, follower);
    if (follower.places.push(place) === 1 || place.maxWords > follower.depth)
      Object.assign(follower, { word, depth: place.maxWords });
    for (let depth = place.minWords; depth <= place.maxWords; depth += 1) {
      if (follower.weights[depth] === undefined) followerCounts[depth] = (followerCounts[depth] ?? 0) + 1;
      follower.weights[depth] = (follower.weights[depth] ?? 0) + place.weight;
      totals[depth] = (totals[depth] ?? 0) + place.weight;
    }
  }
  const words: NextWord[] = [];
  for (const follower of followers.values()) {
    const { word, places, common, weights } = follower;
    if (word === '') continue;
    let probability = common?.probability ?? 0;
    for (const [depth, total] of totals.entries()) {
      if (total === undefined) continue;
      const doubt = (followerCounts[depth] ?? 0) + 4;
      probability = ((weights[depth] ?? 0) + doubt * probability) / (total + doubt);
    }
    const isCommon = common !== undefined;
    if (places.length === 0 && isCommon)
      words.push({ word, places, depth: common.depth, isCommon, probability, share: common.share });
    else {
      const share = (weights[totals.length - 1] ?? 0) / (totals.at(-1) ?? 1);
      words.push({ word, places, depth: follower.depth, isCommon, probability, share });
    }
  }
  return words.sort((a, b) => b.probability - a.probability);
}
