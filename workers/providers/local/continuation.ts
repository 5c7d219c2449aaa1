import type { LocalHints } from '../../../shared/domain/context-envelope.ts';
import { type DraftEnd, folded, nextWord } from '../../../shared/text/phrases.ts';
import type { Evidence } from './evidence.ts';

/** A continuation of a draft; empty if there is none. `confidence` is 0 to 1: how often such a one was what was typed. */
export interface Continuation {
  text: string;
  confidence: number;
}

const WORDS_MAX = 12;
/** A shorter continuation saves no typing. */
const VISIBLE_MIN = 2;
/** Cost of a wrong suggestion, in characters that a right one saves. */
const COST = 0.4;
/** Less likely ones do not grow. */
const GROW_ABOVE = 0.02;

/**
 * The continuation that is worth most: of those that are at least as likely as `minConfidence`, the one with the most
 * characters to save, wrong ones counted against it; if none is, the likeliest. It ends at the end of a word.
 */
export function continueDraft(
  evidence: readonly Evidence[],
  end: DraftEnd,
  { minConfidence, taken, dismissed }: Pick<LocalHints, 'minConfidence' | 'taken' | 'dismissed'>,
): Continuation {
  const leaning = leaningOf(taken, dismissed);
  let best: Continuation & { worth: number } = { text: '', confidence: 0, worth: Number.NEGATIVE_INFINITY };
  for (const { text, basis } of continuations(evidence, end)) {
    const confidence = confidenceOf(basis, leaning);
    const shown = text.replace(OPENING_END, '');
    if ([...shown.trim()].length < VISIBLE_MIN) continue;
    const gain = confidence * (shown.length - 1) - (1 - confidence) * COST;
    const worth = confidence >= minConfidence ? 1 + gain : confidence - 1;
    if (worth > best.worth) best = { text: shown, confidence, worth };
  }
  return { text: best.text, confidence: best.confidence };
}

/** A continuation must not end with an opening bracket or quote. */
const OPENING_END = /\s*[\p{Ps}\p{Pi}]+$/u;

const IN_WORD = /^['’\p{L}\p{M}\p{N}_]/u;

/** The likeliest next word, that with the likeliest one after it, and so on. */
export function* continuations(
  evidence: readonly Evidence[],
  { begun, tails }: DraftEnd,
): Generator<{ text: string; basis: Basis }> {
  const typed = tails[0]?.length ?? 0;
  let places = evidence;
  let text = '';
  let probability = 1;
  for (let words = 1; words <= WORDS_MAX && probability > GROW_ABOVE; words += 1) {
    const next = likeliest(places, begun && words === 1);
    if (next === undefined) return;
    const support = new Set(next.places.map(({ source }) => source)).size;
    // Words that the person wrote in one text alone only end a begun word: else an app could read it by asking on.
    const wroteOnce = support === 1 && next.places.every(({ remembered }) => remembered);
    if (wroteOnce && !(begun && words === 1 && IN_WORD.test(next.word))) return;
    probability *= next.probability;
    text += next.word;
    const { depth, share } = next;
    yield { text, basis: { probability, support, words, length: text.length, depth, share, begun, typed } };
    places = next.places.map(({ following, least, most, ...place }) => ({
      ...place,
      following: following.slice(next.word.length),
      least: least + 1,
      most: most + 1,
    }));
  }
}

/** A word that follows, at these places. */
interface Follower {
  word: string;
  places: Evidence[];
  /** Number of whole words before it that are the draft's, where most are. */
  depth: number;
  /** Weights by the number of words before it that are the draft's. */
  weights: number[];
}

interface Next extends Follower {
  probability: number;
  /** Share of all that followed the longest context that occurred. */
  share: number;
}

/**
 * Interpolates the shares that a word has after 0, 1, 2 … words of the draft (Witten and Bell 1991): a longer context
 * overrides a shorter one the more it occurred, and the less what followed varied.
 */
function likeliest(places: readonly Evidence[], begun: boolean): Next | undefined {
  const followers = new Map<string, Follower>();
  const totals: number[] = [];
  const kinds: number[] = [];
  for (const place of places) {
    const word = nextWord(place.following, begun);
    const key = folded(word);
    const follower = followers.get(key) ?? { word, places: [], depth: 0, weights: [] };
    followers.set(key, follower);
    follower.places.push(place);
    if (place.most > follower.depth) Object.assign(follower, { word, depth: place.most });
    for (let depth = place.least; depth <= place.most; depth += 1) {
      if (follower.weights[depth] === undefined) kinds[depth] = (kinds[depth] ?? 0) + 1;
      follower.weights[depth] = (follower.weights[depth] ?? 0) + place.weight;
      totals[depth] = (totals[depth] ?? 0) + place.weight;
    }
  }
  let best: Next | undefined;
  for (const follower of followers.values()) {
    if (follower.word === '') continue;
    let probability = 0;
    for (const [depth, total] of totals.entries()) {
      if (total === undefined) continue;
      const doubt = (kinds[depth] ?? 0) + 4;
      probability = ((follower.weights[depth] ?? 0) + doubt * probability) / (total + doubt);
    }
    const share = (follower.weights[totals.length - 1] ?? 0) / (totals.at(-1) ?? 1);
    if (best === undefined || probability > best.probability) best = { ...follower, probability, share };
  }
  return best;
}

/** Evidence of a continuation. */
interface Basis {
  probability: number;
  /** Texts that have it. */
  support: number;
  /** Text of the continuation. */
  words: number;
  length: number;
  /** As in `Next`, of its last word. */
  depth: number;
  share: number;
  /** True if it ends a begun word, of which so many characters are typed. */
  begun: boolean;
  typed: number;
}

/** Fitted by logistic regression to what people really typed: `bench/quality/typing/main.ts --fit`. */
const WEIGHTS: readonly number[] = [-1.191, 0.648, 0.243, -0.022, 0.461, -0.309, -0.264, 1.455, -0.317];

/** The features that the confidence is computed from; the first is constant. */
export function featuresOf(basis: Basis): number[] {
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

function confidenceOf(basis: Basis, leaning: number): number {
  const z = featuresOf(basis).reduce((sum, value, place) => sum + value * (WEIGHTS[place] ?? 0), leaning);
  return 1 / (1 + Math.exp(-z));
}

/** Verdicts on suggestions that a person's own are added to: half of what is shown is taken. */
const USUAL = 10;
/** Weighs less, as not every app reports what was dismissed, so that what was taken says less. */
const MOST_LEANING = 0.5;

/** Log-odds, beyond the usual, that a person takes a suggestion of this app. */
function leaningOf(taken: number, dismissed: number): number {
  return Math.min(MOST_LEANING, Math.log((taken + USUAL) / (dismissed + USUAL)));
}
