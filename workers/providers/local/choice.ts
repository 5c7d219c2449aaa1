import type { LocalHints } from '../../../shared/domain/context-envelope.ts';
import type { DraftEnd } from '../../../shared/text/phrases.ts';
import { UNSPACED_SCRIPTS } from '../../../shared/text/words.ts';
import { biasOf } from '../../predictions/verdicts.ts';
import type { Background } from './background.ts';
import { type ConfidenceBasis, confidenceOf } from './confidence.ts';
import { continuationsOf } from './continuation.ts';
import type { ContinuationEvidence } from './evidence.ts';

/** `confidence`, from 0 to 1, estimates how often people really type such a continuation. */
export interface Continuation {
  text: string;
  confidence: number;
}

export interface Choice extends Continuation {
  /** Confidence that the text or one of the alternatives is right. */
  together: number;
  /** Other continuations, the likeliest first. */
  alternatives: string[];
}

/** Minimum number of visible characters: a shorter continuation saves no typing. */
const VISIBLE_CHARS_MIN = 2;
/** Cost of a wrong suggestion, in characters of saved typing, where one of several is to be chosen. */
const WRONG_COST_CHARS = 0.4;
/**
 * Cost of reading a wrong suggestion, in characters of saved typing: so much, and so much more for each character that it
 * would have saved. So two characters of the person, which save one key, need a confidence of 0.56. Several words cost
 * more, because who accepts them for the first deletes the others.
 */
const READING_COST = { word: [1, 0.25], words: [1, 0.5], background: [1, 0] } as const;
/** Cost of reading several choices in vain, in characters of saved typing. */
const CHOICES_COST_CHARS = 0.8;
/** Visible characters that an alternative needs. */
const ALTERNATIVE_CHARS_MIN = 3;
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');
/** An alternative needs this share of the confidence that a single suggestion needs. */
const ALTERNATIVE_SHARE = 1 / 6;

/**
 * Returns the continuation that saves the most typed characters on average, minus the cost of wrong suggestions.
 * Considers only continuations with at least `minConfidence`; if there is none, returns the one with the highest
 * confidence. Up to `alternatives` others begin with other words. Continuations of which none is worth its reading may be
 * worth it together.
 */
export function continueDraft(
  evidence: readonly ContinuationEvidence[],
  end: DraftEnd,
  backgrounds: readonly Background[],
  { minConfidence, taken, dismissed }: Pick<LocalHints, 'minConfidence' | 'taken' | 'dismissed'>,
  alternatives = 0,
): Choice {
  const bias = biasOf(taken, dismissed);
  const continuations = continuationsOf(evidence, end, backgrounds);
  const best = bestOf(continuations(), end, bias, { minConfidence, isAlone: true });
  if (alternatives === 0) return chosen(best, [], 0);
  const isShown = best.confidence >= minConfidence;
  const least = ALTERNATIVE_SHARE * minConfidence;
  const others: Candidate[] = [];
  for (let rank = Number(isShown); rank <= 2 * alternatives; rank += 1) {
    const other = bestOf(continuations(rank), end, bias, {
      minConfidence: least,
      isAlone: false,
    });
    const isLong = UNSPACED.test(other.text) || [...other.text.trim()].length >= ALTERNATIVE_CHARS_MIN;
    if (other.confidence >= least && isLong) others.push(other);
  }
  if (isShown) return chosen(best, others, alternatives);
  const together = others.toSorted((a, b) => b.confidence - a.confidence).slice(0, 1 + alternatives);
  const [first] = together;
  return first !== undefined && areWorthReading(together)
    ? chosen(first, together, alternatives)
    : chosen(best, [], 0);
}

/** Each choice before the one that is taken costs one key. */
function areWorthReading(choices: readonly Candidate[]): boolean {
  const confidence = choices.reduce((sum, choice) => sum + choice.confidence, 0);
  const saved = choices.reduce((sum, choice, place) => sum + choice.confidence * (choice.saved - place), 0);
  return saved > (1 - confidence) * CHOICES_COST_CHARS;
}

interface Candidate extends Continuation {
  /** Keys that it saves. */
  saved: number;
}

/** Puts the likeliest other continuations beside the best. One of them is right as often as the confidence says. */
export function chosen(best: Continuation, others: readonly Continuation[], alternatives: number): Choice {
  const texts = new Set([best.text, '']);
  const kept = others
    .toSorted((a, b) => b.confidence - a.confidence)
    .filter(({ text }) => !texts.has(text) && texts.add(text))
    .slice(0, best.text === '' ? 0 : alternatives);
  const together = kept.reduce((sum, other) => sum + other.confidence, best.confidence);
  return {
    text: best.text,
    confidence: best.confidence,
    together: Math.min(1, together),
    alternatives: kept.map(({ text }) => text),
  };
}

function bestOf(
  candidates: Iterable<{ text: string; basis: ConfidenceBasis }>,
  end: DraftEnd,
  bias: number,
  { minConfidence, isAlone }: { minConfidence: number; isAlone: boolean },
): Candidate {
  let best: Candidate = { text: '', confidence: 0, saved: 0 };
  let most = Number.NEGATIVE_INFINITY;
  for (const { text, basis } of candidates) {
    const confidence = confidenceOf(basis, bias);
    const shownText = inFormOf(end, text.replace(OPENING_END, ''));
    if ([...shownText.trim()].length < VISIBLE_CHARS_MIN) continue;
    const saved = shownText.length - 1;
    const [once, perCharacter] =
      READING_COST[basis.support === 0 ? 'background' : basis.words > 1 ? 'words' : 'word'];
    const cost = once + perCharacter * saved;
    const isDear = confidence * saved < (1 - confidence) * cost && !UNSPACED.test(shownText);
    if (isAlone && isDear && confidence >= minConfidence) continue;
    const gain = confidence * saved - (1 - confidence) * WRONG_COST_CHARS;
    const worth = confidence >= minConfidence ? 1 + gain : confidence - 1;
    if (worth <= most) continue;
    most = worth;
    best = { text: shownText, confidence, saved };
  }
  return best;
}

/** Writes apostrophes as the draft does, and letters in its case. */
function inFormOf(end: DraftEnd, text: string): string {
  return inCaseOf(end, end.isCurly ? text.replaceAll(APOSTROPHE, '’') : text);
}

const APOSTROPHE = /(?<=^|\p{L})'(?=\p{L})/gu;
const REST = /^[\p{L}\p{M}'’]+/u;

/** Recases what contradicts the letters typed: `fe⟨ATURE⟩`, `WA⟨nt⟩`, PLEASE SEND THE MON⟨THLY⟩. */
function inCaseOf({ typed, isInCapitals }: DraftEnd, text: string): string {
  const isUpper = (part: string) => part === part.toUpperCase() && part !== part.toLowerCase();
  if (isInCapitals && (typed === '' || isUpper(typed))) return text.toUpperCase();
  const rest = typed === '' ? '' : (REST.exec(text)?.[0] ?? '');
  if (isUpper(rest) && typed === typed.toLowerCase()) return rest.toLowerCase() + text.slice(rest.length);
  const isContrary = /\p{Lu}{2}/u.test(typed) && isUpper(typed) && rest === rest.toLowerCase();
  return isContrary ? rest.toUpperCase() + text.slice(rest.length) : text;
}

/** A continuation must not end in an opening bracket or quotation mark. */
const OPENING_END = /\s*[\p{Ps}\p{Pi}]+$/u;
