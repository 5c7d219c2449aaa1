import type { LocalHints } from '../../../shared/domain/context-envelope.ts';
import { type DraftEnd, lowerCaseInPlace, nextWord } from '../../../shared/text/phrases.ts';
import type { ContinuationEvidence } from './evidence.ts';

/** `confidence`, from 0 to 1, estimates how often people really type such a continuation. */
export interface Continuation {
  text: string;
  confidence: number;
}

const WORDS_MAX = 12;
/** Minimum number of visible characters: a shorter continuation saves no typing. */
const VISIBLE_CHARS_MIN = 2;
/** Cost of a wrong suggestion. The unit is one character of saved typing. */
const WRONG_COST_CHARS = 0.4;
const GROWTH_PROBABILITY_MIN = 0.02;

/**
 * Returns the continuation that saves the most typed characters on average, minus the cost of wrong suggestions.
 * Considers only continuations with at least `minConfidence`; if there is none, returns the one with the highest
 * confidence.
 */
export function continueDraft(
  evidence: readonly ContinuationEvidence[],
  end: DraftEnd,
  { minConfidence, taken, dismissed }: Pick<LocalHints, 'minConfidence' | 'taken' | 'dismissed'>,
): Continuation {
  const bias = biasOf(taken, dismissed);
  let best: Continuation & { worth: number } = { text: '', confidence: 0, worth: Number.NEGATIVE_INFINITY };
  for (const { text, basis } of continuations(evidence, end)) {
    const confidence = confidenceOf(basis, bias);
    const shownText = text.replace(OPENING_END, '');
    if ([...shownText.trim()].length < VISIBLE_CHARS_MIN) continue;
    const gain = confidence * (shownText.length - 1) - (1 - confidence) * WRONG_COST_CHARS;
    const worth = confidence >= minConfidence ? 1 + gain : confidence - 1;
    if (worth > best.worth) best = { text: shownText, confidence, worth };
  }
  return { text: best.text, confidence: best.confidence };
}

/** A continuation must not end in an opening bracket or quotation mark. */
const OPENING_END = /\s*[\p{Ps}\p{Pi}]+$/u;

const IN_WORD = /^['’\p{L}\p{M}\p{N}_]/u;

/** Yields the likeliest next word, then this word with the likeliest word after it, and so on. */
export function* continuations(
  evidence: readonly ContinuationEvidence[],
  { begun, tails }: DraftEnd,
): Generator<{ text: string; basis: ConfidenceBasis }> {
  const typed = tails[0]?.length ?? 0;
  let places = evidence;
  let text = '';
  let probability = 1;
  for (let words = 1; words <= WORDS_MAX && probability > GROWTH_PROBABILITY_MIN; words += 1) {
    const next = likeliestNextWord(places, begun && words === 1);
    if (next === undefined) return;
    const support = new Set(next.places.map(({ source }) => source)).size;
    // If memory has the words only once, suggests them only to complete an unfinished word. Otherwise an app could read
    // that text word by word.
    if (!isWrittenTwice(next.places) && !(begun && words === 1 && IN_WORD.test(next.word))) return;
    probability *= next.probability;
    text += next.word;
    const { depth, share } = next;
    yield { text, basis: { probability, support, words, length: text.length, depth, share, begun, typed } };
    places = next.places.map(({ following, minWords, maxWords, ...place }) => ({
      ...place,
      following: following.slice(next.word.length),
      minWords: minWords + 1,
      maxWords: maxWords + 1,
    }));
  }
}

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
}

interface NextWord extends Follower {
  probability: number;
  /** Share of this word among the words that follow the longest match with the end of the draft. */
  share: number;
}

/**
 * Interpolates the n-gram probabilities of each word (Witten and Bell 1991). A longer context counts more if it
 * occurred more often.
 */
function likeliestNextWord(places: readonly ContinuationEvidence[], begun: boolean): NextWord | undefined {
  const followers = new Map<string, Follower>();
  const totals: number[] = [];
  const followerCounts: number[] = [];
  for (const place of places) {
    const word = nextWord(place.following, begun);
    // Half a word, or the end of a cut text, says nothing about the next word.
    if (place.isCut && (word === '' || word === place.following)) continue;
    const key = lowerCaseInPlace(word);
    const follower = followers.get(key) ?? { word, places: [], depth: 0, weights: [] };
    followers.set(key, follower);
    follower.places.push(place);
    if (place.maxWords > follower.depth) Object.assign(follower, { word, depth: place.maxWords });
    for (let depth = place.minWords; depth <= place.maxWords; depth += 1) {
      if (follower.weights[depth] === undefined) followerCounts[depth] = (followerCounts[depth] ?? 0) + 1;
      follower.weights[depth] = (follower.weights[depth] ?? 0) + place.weight;
      totals[depth] = (totals[depth] ?? 0) + place.weight;
    }
  }
  let best: NextWord | undefined;
  for (const follower of followers.values()) {
    if (follower.word === '') continue;
    let probability = 0;
    for (const [depth, total] of totals.entries()) {
      if (total === undefined) continue;
      const doubt = (followerCounts[depth] ?? 0) + 4;
      probability = ((follower.weights[depth] ?? 0) + doubt * probability) / (total + doubt);
    }
    const share = (follower.weights[totals.length - 1] ?? 0) / (totals.at(-1) ?? 1);
    if (best === undefined || probability > best.probability) best = { ...follower, probability, share };
  }
  return best;
}

interface ConfidenceBasis {
  probability: number;
  /** Number of texts that contain the continuation. */
  support: number;
  words: number;
  /** Length of the continuation in UTF-16 units. */
  length: number;
  depth: number;
  share: number;
  begun: boolean;
  /** Number of typed characters of an unfinished word. */
  typed: number;
}

/** Weights fitted by logistic regression to real typing: `bench/quality/typing/main.ts --fit`. */
const WEIGHTS: readonly number[] = [-1.191, 0.648, 0.243, -0.022, 0.461, -0.309, -0.264, 1.455, -0.317];

export function featuresOf(basis: ConfidenceBasis): number[] {
  const { probability, support, words, length, depth, share, begun, typed } = basis;
  return [
    1,
    Math.log(probability / (1 - Math.min(probability, 0.9999))),
    Math.log(1 + support),
    Math.min(depth, 4),
    Math.log(1 + typed),
    words - 1,
    Math.log(length),
    share,
    Number(begun),
  ];
}

function confidenceOf(basis: ConfidenceBasis, bias: number): number {
  const z = featuresOf(basis).reduce((sum, value, place) => sum + value * (WEIGHTS[place] ?? 0), bias);
  return 1 / (1 + Math.exp(-z));
}

/** Added to the numbers of accepted and of dismissed suggestions, so that a few of them have little effect. */
const PRIOR_VERDICTS = 10;
/** Limits the effect of accepted suggestions, which say little if the app does not report dismissed ones. */
const BIAS_MAX = 0.5;

/** Returns the log-odds that a person accepts a suggestion in this app, relative to the average. */
function biasOf(taken: number, dismissed: number): number {
  return Math.min(BIAS_MAX, Math.log((taken + PRIOR_VERDICTS) / (dismissed + PRIOR_VERDICTS)));
}
