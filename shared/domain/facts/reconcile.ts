import { similarity } from '../../text/similarity.ts';
import { haveSameDetails, isNearDuplicate, isOtherValue, isSameValue, normalized } from './compare.ts';
import { overlap } from './passage.ts';
import type { Quote, Statement } from './statement.ts';

/** A fact of the account beside which a new statement is put. */
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

/** The fate of a statement. `end` is the end of validity that a superseded fact gets; null leaves it alone. */
export type Decision =
  /** It is the same as a fact: its evidence is added there. */
  | { as: 'evidence'; of: KnownFact }
  /** It is of the same passage as a fact, in other words: it replaces the fact. */
  | { as: 'rewording'; of: KnownFact }
  /** It is a fact, which replaces others. */
  | { as: 'new'; supersedes: { fact: KnownFact; end: Date | null }[] }
  /** It is a fact that does not hold: another one replaces it. */
  | { as: 'former'; of: KnownFact; end: Date | null }
  /** Memory has had it before. */
  | { as: 'known' };

/**
 * Decides how a statement relates to what memory knows. Exact repetitions are found first, then near ones, then what was
 * said of the same passage, then contradictions. A fact that the person wrote or pinned is never changed: what
 * contradicts it is stored as superseded by it, so that it is in no context, and holds once the person's own is gone.
 */
export function reconcile(statement: Statement, known: readonly KnownFact[]): Decision {
  const current = known.filter(({ supersededBy }) => supersededBy === null);
  const same =
    current.find((fact) => isSame(statement, fact)) ?? current.find((fact) => isSlotValue(statement, fact));
  if (same !== undefined) return { as: 'evidence', of: same };
  const former = known.filter(({ supersededBy }) => supersededBy !== null);
  if (former.some((fact) => isSame(statement, fact) && haveSamePassage(statement, fact)))
    return { as: 'known' };
  const reworded = rewordedAmong(statement, current);
  if (reworded !== undefined) return { as: isProtected(reworded) ? 'evidence' : 'rewording', of: reworded };
  if (rewordedAmong(statement, former) !== undefined) return { as: 'known' };
  return place(
    statement,
    current.filter((fact) => contradicts(statement, fact)),
  );
}

/** Reports whether nothing but the person may change a fact. */
export function isProtected({ origin, pinned }: Pick<KnownFact, 'origin' | 'pinned'>): boolean {
  return origin === 'human' || pinned;
}

function isSame({ text, target }: Statement, fact: KnownFact): boolean {
  if (normalized(text) === normalized(fact.text) || isNearDuplicate(text, fact.text)) return true;
  return target?.relation === 'duplicate' && target.id === fact.id && haveSameDetails(text, fact.text);
}

function isSlotValue({ text, slot }: Statement, fact: KnownFact): boolean {
  return slot !== null && slot === fact.slot && isSameValue(text, fact.text, slot);
}

/** Two statements of one passage in words that are less alike are about different things. */
const ALIKE = 0.4;

/** The fact that another run of promotion has made of the same passage. */
function rewordedAmong(statement: Statement, facts: readonly KnownFact[]): KnownFact | undefined {
  const alike = facts
    .filter((fact) => haveSamePassage(statement, fact))
    .map((fact) => ({
      fact,
      likeness: isSameSlot(statement, fact) ? 1 : similarity(statement.text, fact.text),
    }))
    .filter(({ likeness }) => likeness >= ALIKE);
  return alike.sort((a, b) => b.likeness - a.likeness)[0]?.fact;
}

function isSameSlot(a: { slot: string | null }, b: { slot: string | null }): boolean {
  return a.slot !== null && a.slot === b.slot;
}

/** Reports whether they fill one slot although a model has named it for one of them only. */
function fillUnnamedSlot(statement: Statement, fact: KnownFact): boolean {
  const slot = statement.slot ?? fact.slot;
  const isUnnamed = statement.slot === null || fact.slot === null;
  return slot !== null && isUnnamed && isOtherValue(statement.text, fact.text, slot);
}

/** Reports whether both quote the same passage of a row. */
export function haveSamePassage(a: { quotes: readonly Quote[] }, b: { quotes: readonly Quote[] }): boolean {
  return a.quotes.some(({ rawId, words }) =>
    b.quotes.some((other) => other.rawId === rawId && overlap(other.words, words)),
  );
}

function contradicts(statement: Statement, fact: KnownFact): boolean {
  const isNamed = statement.target?.relation === 'supersedes' && statement.target.id === fact.id;
  const fillOneSlot = isSameSlot(statement, fact) || fillUnnamedSlot(statement, fact);
  return (isNamed || fillOneSlot) && haveCommonTime(statement, fact);
}

type Span = Pick<KnownFact, 'validFrom' | 'validTo'>;

/** An open end lasts. */
function haveCommonTime(a: Span, b: Span): boolean {
  const beginsBefore = (one: Span, other: Span) =>
    one.validFrom === null || other.validTo === null || one.validFrom < other.validTo;
  return beginsBefore(a, b) && beginsBefore(b, a);
}

/** Lets the later statement replace the earlier one, whichever of them was learnt first. */
function place(statement: Statement, contradicted: readonly KnownFact[]): Decision {
  const own = contradicted.find(isProtected);
  if (own !== undefined) return { as: 'former', of: own, end: null };
  const { validFrom, validTo } = statement;
  const later = contradicted
    .filter((fact) => fact.validFrom !== null && fact.validFrom > validFrom)
    .sort((a, b) => Number(a.validFrom) - Number(b.validFrom));
  const [next] = later;
  if (next !== undefined) return { as: 'former', of: next, end: earlier(validTo, next.validFrom) };
  const supersedes = contradicted.map((fact) => ({ fact, end: earlier(fact.validTo, validFrom) }));
  return { as: 'new', supersedes };
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
