import type { LocalHints } from '../../../shared/domain/context-envelope.ts';
import { type DraftEnd, lowerCaseInPlace, nextWord } from '../../../shared/text/phrases.ts';
import type { ContinuationEvidence } from './evidence.ts';

/**
 * A continuation of a draft; empty if there is none. `confidence`, from 0 to 1, is the estimated share of such
 * continuations that people really type.
 */
export interface Continuation {
  text: string;
  confidence: number;
}

const WORDS_MAX = 12;
/** Minimum number of visible characters: a shorter continuation saves no typing. */
const VISIBLE_CHARS_MIN = 2;
/** Cost of a wrong suggestion, as a number of characters that a correct suggestion saves. */
const WRONG_COST_CHARS = 0.4;
/** Probability of a continuation above which another word is added. */
const GROWTH_PROBABILITY_MIN = 0.02;

/**
 * Returns the best continuation, which ends at the end of a word. Among those with at least `minConfidence`, this is
 * the one that saves the most characters on average, less the cost of wrong suggestions. If no continuation reaches
 * `minConfidence`, returns the likeliest one.
 */
export function continueDraft(
  evidence: readonly ContinuationEvidence[],
  end: DraftEnd,
  { minConfidence, taken, dismissed }: Pick<LocalHints, 'minConfidence' | 'taken' | 'dismissed'>,
): Continuation {
  const leaning = leaningOf(taken, dismissed);
  let best: Continuation & { worth: number } = { text: '', confidence: 0, worth: Number.NEGATIVE_INFINITY };
  for (const { text, basis } of continuations(evidence, end)) {
    const confidence = confidenceOf(basis, leaning);
    const shownText = text.replace(OPENING_END, '');
    if ([...shownText.trim()].length < VISIBLE_CHARS_MIN) continue;
    const gain = confidence * (shownText.length - 1) - (1 - confidence) * WRONG_COST_CHARS;
    const worth = confidence >= minConfidence ? 1 + gain : confidence - 1;
    if (worth > best.worth) best = { text: shownText, confidence, worth };
  }
  return { text: best.text, confidence: best.confidence };
}

/** Opening brackets and quotation marks, with which a continuation must not end. */
const OPENING_END = /\s*[\p{Ps}\p{Pi}]+$/u;

const IN_WORD = /^['’\p{L}\p{M}\p{N}_]/u;

/** Yields the likeliest next word, then that word with the likeliest one after it, and so on. */
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
    // Words from a single remembered text may only complete an unfinished word. Otherwise an app could read the text
    // word by word.
    const isFromOneRememberedText = support === 1 && next.places.every(({ remembered }) => remembered);
    if (isFromOneRememberedText && !(begun && words === 1 && IN_WORD.test(next.word))) return;
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

/** A word that follows at one or more places. */
interface Follower {
  word: string;
  places: ContinuationEvidence[];
  /** Maximum number of whole words before it that match the draft, over all places. */
  depth: number;
  /** Weights of the places, by the number of words before it that match the draft. */
  weights: number[];
}

interface NextWord extends Follower {
  probability: number;
  /** Share of the word among all words that followed the longest matching context. */
  share: number;
}

/**
 * Finds the likeliest next word. Interpolates the shares that a word has after 0, 1, 2 and more words of the draft
 * (Witten and Bell 1991). The more often a longer context occurred, and the fewer different words followed it, the more
 * it overrides a shorter context.
 */
function likeliestNextWord(places: readonly ContinuationEvidence[], begun: boolean): NextWord | undefined {
  const followers = new Map<string, Follower>();
  const totals: number[] = [];
  const followerCounts: number[] = [];
  for (const place of places) {
    const word = nextWord(place.following, begun);
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

/** Inputs to the confidence of a continuation. */
interface ConfidenceBasis {
  probability: number;
  /** Number of texts that contain the continuation. */
  support: number;
  /** Number of words of the continuation. */
  words: number;
  /** Length of the continuation in UTF-16 units. */
  length: number;
  /** `depth` and `share` of the last word, as in `NextWord`. */
  depth: number;
  share: number;
  /** True if the continuation completes an unfinished word. */
  begun: boolean;
  /** Number of typed characters of the unfinished word. */
  typed: number;
}

/** Weights fitted by logistic regression to real typing: `bench/quality/typing/main.ts --fit`. */
const WEIGHTS: readonly number[] = [-1.191, 0.648, 0.243, -0.022, 0.461, -0.309, -0.264, 1.455, -0.317];

/** Returns the features from which the confidence is computed; the first is constant. */
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

function confidenceOf(basis: ConfidenceBasis, leaning: number): number {
  const z = featuresOf(basis).reduce((sum, value, place) => sum + value * (WEIGHTS[place] ?? 0), leaning);
  return 1 / (1 + Math.exp(-z));
}

/** Number of assumed acceptances, and of assumed dismissals, that are added to a person's own. */
const PRIOR_VERDICTS = 10;
/**
 * Maximum effect of accepted suggestions. It is low because not every app reports dismissals, so an acceptance says
 * less than a dismissal.
 */
const LEANING_MAX = 0.5;

/** Returns the log-odds that a person accepts a suggestion in this app, relative to the usual log-odds. */
function leaningOf(taken: number, dismissed: number): number {
  return Math.min(LEANING_MAX, Math.log((taken + PRIOR_VERDICTS) / (dismissed + PRIOR_VERDICTS)));
}
