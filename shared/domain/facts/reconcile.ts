import { haveSameDetails } from '../../text/details.ts';
import { similarity } from '../../text/similarity.ts';
import {
  givenUpValuesIn,
  isNearDuplicate,
  isNegationOf,
  isOtherValue,
  isOtherVersion,
  isSameValue,
  meaningfulWordsIn,
  normalizeWords,
  statedValueOf,
} from './compare.ts';
import { passagesOverlap } from './passage.ts';
import type { CheckedQuote, Quote, Statement } from './statement.ts';

export interface KnownFact {
  id: string;
  text: string;
  slot: string | null;
  origin: string;
  pinned: boolean;
  validFrom: Date | null;
  validTo: Date | null;
  supersededBy: string | null;
  quotes: Quote[];
}

interface Supersession {
  fact: KnownFact;
  /** New end of the fact's validity. */
  end: Date | null;
}

/** Fate of a statement. An `end` of null leaves the end of the validity unchanged. */
type Reconciliation =
  /** The statement says the same as a fact: its evidence is added to the fact. */
  | { outcome: 'evidence'; fact: KnownFact }
  /** The statement rewords a fact made from the same passage: it replaces the fact. */
  | { outcome: 'rewording'; fact: KnownFact }
  /** The statement becomes a fact, and supersedes other facts. */
  | { outcome: 'new'; supersedes: Supersession[] }
  /** `fact` supersedes the statement, which becomes a fact valid until `end`. The new fact may supersede others. */
  | { outcome: 'former'; fact: KnownFact; end: Date | null; supersedes: Supersession[] }
  /** The statement repeats a superseded fact made from the same passage: it is dropped. */
  | { outcome: 'known' };

/**
 * Never changes a fact that the person wrote or pinned: a statement that contradicts such a fact is stored as
 * superseded by it, and appears in no context until that fact is gone.
 */
export function reconcile(statement: Statement, known: readonly KnownFact[]): Reconciliation {
  const current = known.filter(({ supersededBy }) => supersededBy === null);
  const sameFact =
    current.find((fact) => isSameStatement(statement, fact) && canRepeat(statement, fact)) ??
    current.find((fact) => isSlotValue(statement, fact) && canRepeat(statement, fact));
  if (sameFact !== undefined) return { outcome: 'evidence', fact: sameFact };
  const former = known.filter(({ supersededBy }) => supersededBy !== null);
  if (former.some((fact) => isSameStatement(statement, fact) && haveSamePassage(statement, fact)))
    return { outcome: 'known' };
  const reworded = rewordedFact(statement, current);
  if (reworded !== undefined)
    return { outcome: isProtected(reworded) ? 'evidence' : 'rewording', fact: reworded };
  if (rewordedFact(statement, former) !== undefined) return { outcome: 'known' };
  return resolveContradictions(
    statement,
    current.filter((fact) => contradicts(statement, fact)),
  );
}

/** Reports whether only the person may change a fact. */
function isProtected({ origin, pinned }: Pick<KnownFact, 'origin' | 'pinned'>): boolean {
  return origin === 'human' || pinned;
}

/**
 * A fact that has ended does not become valid again because it is said again. If the model says that the statement
 * replaces the fact, the statement counts as a repetition only in the fact's own words.
 */
function canRepeat(statement: Statement, fact: KnownFact): boolean {
  const { text, target } = statement;
  const isReplaced = target?.relation === 'supersedes' && target.id === fact.id;
  if (isReplaced && normalizeWords(text) !== normalizeWords(fact.text)) return false;
  return haveCommonTime(statement, fact) || haveSamePassage(statement, fact);
}

function isSameStatement({ text, target }: Statement, fact: KnownFact): boolean {
  if (normalizeWords(text) === normalizeWords(fact.text) || isNearDuplicate(text, fact.text)) return true;
  return target?.relation === 'duplicate' && target.id === fact.id && haveSameDetails(text, fact.text);
}

function isSlotValue({ text, slot }: Statement, fact: KnownFact): boolean {
  return slot !== null && slot === fact.slot && isSameValue(text, fact.text, slot);
}

/** Minimum similarity at which two statements made from one passage are about the same thing. */
const REWORDING_SIMILARITY = 0.4;

/**
 * Returns the fact most similar to the statement among those made from the same passage, if it is about the same topic.
 */
function rewordedFact(statement: Statement, facts: readonly KnownFact[]): KnownFact | undefined {
  const alike = facts
    .filter((fact) => haveSamePassage(statement, fact))
    .map((fact) => ({
      fact,
      likeness: isSameSlot(statement, fact) ? 1 : similarity(statement.text, fact.text),
    }))
    .filter(({ likeness }) => likeness >= REWORDING_SIMILARITY);
  return alike.sort((a, b) => b.likeness - a.likeness)[0]?.fact;
}

/** Returns a statement's quotes without those of passages of which the same was found to be forgotten. */
export function quotesBeside(statement: Statement, forgotten: readonly Statement[]): CheckedQuote[] {
  const same = forgotten.filter((one) =>
    one.slot === null || statement.slot === null
      ? shareMeaning(one.text, statement.text)
      : one.slot === statement.slot,
  );
  return statement.quotes.filter((quote) => !same.some((one) => haveSamePassage(one, { quotes: [quote] })));
}

function shareMeaning(a: string, b: string): boolean {
  return !new Set(meaningfulWordsIn(a)).isDisjointFrom(new Set(meaningfulWordsIn(b)));
}

function isSameSlot(a: { slot: string | null }, b: { slot: string | null }): boolean {
  return a.slot !== null && a.slot === b.slot;
}

/**
 * Reports whether both fill the same slot, although a model has named that of only one of them. Without a model, a
 * sentence without a slot states no value: `My editor is slow`.
 */
function fillUnnamedSlot(statement: Statement, fact: KnownFact): boolean {
  const [unnamed, { slot }] = statement.slot === null ? [statement, fact] : [fact, statement];
  const isForgotten = unnamed.slot === null && unnamed.origin === 'model';
  return slot !== null && isForgotten && isOtherValue(statement.text, fact.text, slot);
}

export function haveSamePassage(a: { quotes: readonly Quote[] }, b: { quotes: readonly Quote[] }): boolean {
  return a.quotes.some(({ rawId, words }) =>
    b.quotes.some((other) => other.rawId === rawId && passagesOverlap(other.words, words)),
  );
}

function contradicts(statement: Statement, fact: KnownFact): boolean {
  const isNamed = statement.target?.relation === 'supersedes' && statement.target.id === fact.id;
  const fillOneSlot = isSameSlot(statement, fact) || fillUnnamedSlot(statement, fact);
  const isChange =
    givesUp(statement, fact) ||
    givesUp(fact, statement) ||
    isNegationOf(statement.text, fact.text) ||
    isOtherVersion(statement.text, fact.text);
  return (isNamed || fillOneSlot || isChange) && haveCommonTime(statement, fact);
}

/** Reports whether `one` gives up the value of `other`: `I have moved from npm to pnpm`, `I always use npm`. */
function givesUp(one: { text: string }, other: { text: string; slot: string | null }): boolean {
  const value = statedValueOf(other.text, other.slot);
  return givenUpValuesIn(one.text).some((values) => values.symmetricDifference(value).size === 0);
}

type ValidityPeriod = Pick<KnownFact, 'validFrom' | 'validTo'>;

/** A null `validTo` means that the period has no end. */
function haveCommonTime(a: ValidityPeriod, b: ValidityPeriod): boolean {
  const beginsBefore = (one: ValidityPeriod, other: ValidityPeriod) =>
    other.validTo === null || beginningOf(one) < other.validTo.getTime();
  return beginsBefore(a, b) && beginsBefore(b, a);
}

/**
 * If only the end of a statement's validity is known, the beginning equals the end. The statement then counts as valid
 * just before the end.
 */
function beginningOf({ validFrom, validTo }: ValidityPeriod): number {
  if (validFrom === null) return Number.NEGATIVE_INFINITY;
  const from = validFrom.getTime();
  return from === validTo?.getTime() ? from - 1 : from;
}

/**
 * Supersedes the earlier of two contradicting statements, whichever was stored first, but never a protected fact.
 */
function resolveContradictions(statement: Statement, contradicted: readonly KnownFact[]): Reconciliation {
  const { validFrom, validTo } = statement;
  const isLater = (fact: KnownFact) => fact.validFrom !== null && fact.validFrom > validFrom;
  const protectedFact = contradicted.find(isProtected);
  if (protectedFact !== undefined) {
    const end = isLater(protectedFact) ? earlierDate(validTo, protectedFact.validFrom) : null;
    return { outcome: 'former', fact: protectedFact, end, supersedes: [] };
  }
  const later = contradicted.filter(isLater).sort((a, b) => Number(a.validFrom) - Number(b.validFrom));
  const supersedes = contradicted
    .filter((fact) => !later.includes(fact))
    .map((fact) => ({ fact, end: earlierDate(fact.validTo, validFrom) }));
  const [next] = later;
  if (next === undefined) return { outcome: 'new', supersedes };
  return { outcome: 'former', fact: next, end: earlierDate(validTo, next.validFrom), supersedes };
}

function earlierDate(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
