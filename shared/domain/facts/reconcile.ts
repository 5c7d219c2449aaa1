import { haveSameDetails } from '../../text/details.ts';
import { similarity } from '../../text/similarity.ts';
import {
  givenUpIn,
  isNearDuplicate,
  isNegationOf,
  isOtherValue,
  isSameValue,
  normalizeWords,
  ownValueOf,
} from './compare.ts';
import { passagesOverlap } from './passage.ts';
import type { Quote, Statement } from './statement.ts';

/** A fact in memory, with which a new statement is compared. */
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

interface Superseded {
  fact: KnownFact;
  end: Date | null;
}

/**
 * Fate of a statement. `end` is when the superseded fact, or the statement itself if it is superseded, ceases
 * to be valid; null leaves its end as it is.
 */
export type Reconciliation =
  /** The statement says the same as a fact: its evidence is added to the fact. */
  | { as: 'evidence'; of: KnownFact }
  /** The statement rewords a fact made from the same passage: it replaces the fact. */
  | { as: 'rewording'; of: KnownFact }
  /** The statement becomes a fact, which supersedes others. */
  | { as: 'new'; supersedes: Superseded[] }
  /** The statement becomes a fact that another one already supersedes; it may itself supersede still older ones. */
  | { as: 'former'; of: KnownFact; end: Date | null; supersedes: Superseded[] }
  /** The statement repeats a superseded fact made from the same passage: it is dropped. */
  | { as: 'known' };

/**
 * Decides how a statement relates to what memory knows. Looks first for repetitions, then for other statements made
 * from the same passage, then for contradictions. A fact that the person wrote or pinned is never changed: a statement
 * that contradicts it is stored as superseded by it. So that statement appears in no context until the person's own
 * fact is gone.
 */
export function reconcile(statement: Statement, known: readonly KnownFact[]): Reconciliation {
  const current = known.filter(({ supersededBy }) => supersededBy === null);
  const same =
    current.find((fact) => isSame(statement, fact) && mayBeOne(statement, fact)) ??
    current.find((fact) => isSlotValue(statement, fact) && mayBeOne(statement, fact));
  if (same !== undefined) return { as: 'evidence', of: same };
  const former = known.filter(({ supersededBy }) => supersededBy !== null);
  if (former.some((fact) => isSame(statement, fact) && haveSamePassage(statement, fact)))
    return { as: 'known' };
  const reworded = rewordedFact(statement, current);
  if (reworded !== undefined) return { as: isProtected(reworded) ? 'evidence' : 'rewording', of: reworded };
  if (rewordedFact(statement, former) !== undefined) return { as: 'known' };
  return resolveContradictions(
    statement,
    current.filter((fact) => contradicts(statement, fact)),
  );
}

/** Reports whether only the person may change a fact. */
export function isProtected({ origin, pinned }: Pick<KnownFact, 'origin' | 'pinned'>): boolean {
  return origin === 'human' || pinned;
}

/**
 * Reports whether a statement can repeat a fact: one that has ended does not hold again by being said again, and one
 * that a model says is replaced is repeated only by the same words.
 */
function mayBeOne(statement: Statement, fact: KnownFact): boolean {
  const { text, target } = statement;
  const isReplaced = target?.relation === 'supersedes' && target.id === fact.id;
  if (isReplaced && normalizeWords(text) !== normalizeWords(fact.text)) return false;
  return haveCommonTime(statement, fact) || haveSamePassage(statement, fact);
}

function isSame({ text, target }: Statement, fact: KnownFact): boolean {
  if (normalizeWords(text) === normalizeWords(fact.text) || isNearDuplicate(text, fact.text)) return true;
  return target?.relation === 'duplicate' && target.id === fact.id && haveSameDetails(text, fact.text);
}

function isSlotValue({ text, slot }: Statement, fact: KnownFact): boolean {
  return slot !== null && slot === fact.slot && isSameValue(text, fact.text, slot);
}

/** Minimum similarity at which two statements made from one passage are about the same thing. */
const REWORDING_SIMILARITY = 0.4;

/** Returns the fact most like the statement among those made from the same passage, if it is about the same thing. */
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

function isSameSlot(a: { slot: string | null }, b: { slot: string | null }): boolean {
  return a.slot !== null && a.slot === b.slot;
}

/** Reports whether both fill one slot, although a model named the slot for only one of them. */
function fillUnnamedSlot(statement: Statement, fact: KnownFact): boolean {
  const slot = statement.slot ?? fact.slot;
  const isUnnamed = statement.slot === null || fact.slot === null;
  return slot !== null && isUnnamed && isOtherValue(statement.text, fact.text, slot);
}

/** Reports whether both quote the same passage of a row. */
export function haveSamePassage(a: { quotes: readonly Quote[] }, b: { quotes: readonly Quote[] }): boolean {
  return a.quotes.some(({ rawId, words }) =>
    b.quotes.some((other) => other.rawId === rawId && passagesOverlap(other.words, words)),
  );
}

function contradicts(statement: Statement, fact: KnownFact): boolean {
  const isNamed = statement.target?.relation === 'supersedes' && statement.target.id === fact.id;
  const fillOneSlot = isSameSlot(statement, fact) || fillUnnamedSlot(statement, fact);
  const isChange =
    givesUp(statement, fact) || givesUp(fact, statement) || isNegationOf(statement.text, fact.text);
  return (isNamed || fillOneSlot || isChange) && haveCommonTime(statement, fact);
}

/** Reports whether one gives up all that the other says: `I have moved from npm to pnpm`, `I always use npm`. */
function givesUp(one: { text: string }, other: { text: string; slot: string | null }): boolean {
  const value = ownValueOf(other.text, other.slot);
  return givenUpIn(one.text).some((values) => values.symmetricDifference(value).size === 0);
}

type Span = Pick<KnownFact, 'validFrom' | 'validTo'>;

/** Reports whether there is a time at which both are valid. An open end lasts forever. */
function haveCommonTime(a: Span, b: Span): boolean {
  const beginsBefore = (one: Span, other: Span) =>
    other.validTo === null || beginningOf(one) < other.validTo.getTime();
  return beginsBefore(a, b) && beginsBefore(b, a);
}

/** A statement with an end alone begins where it ends: it held at least just before. */
function beginningOf({ validFrom, validTo }: Span): number {
  if (validFrom === null) return Number.NEGATIVE_INFINITY;
  const from = validFrom.getTime();
  return from === validTo?.getTime() ? from - 1 : from;
}

/** Lets the later statement supersede the earlier one, whichever was learnt first. */
function resolveContradictions(statement: Statement, contradicted: readonly KnownFact[]): Reconciliation {
  const { validFrom, validTo } = statement;
  const isLater = (fact: KnownFact) => fact.validFrom !== null && fact.validFrom > validFrom;
  const own = contradicted.find(isProtected);
  if (own !== undefined) {
    const end = isLater(own) ? earlier(validTo, own.validFrom) : null;
    return { as: 'former', of: own, end, supersedes: [] };
  }
  const later = contradicted.filter(isLater).sort((a, b) => Number(a.validFrom) - Number(b.validFrom));
  const supersedes = contradicted
    .filter((fact) => !later.includes(fact))
    .map((fact) => ({ fact, end: earlier(fact.validTo, validFrom) }));
  const [next] = later;
  if (next === undefined) return { as: 'new', supersedes };
  return { as: 'former', of: next, end: earlier(validTo, next.validFrom), supersedes };
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
