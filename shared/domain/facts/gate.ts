import { EARLIEST, momentOf } from '../moment.ts';
import { type Claimed, Evidence } from './grounding.ts';
import { asStatement, isInstruction } from './instructions.ts';
import { holdsSecret } from './secrets.ts';
import type { CheckedQuote, SourceRow, Statement } from './statement.ts';

export const FACT_KINDS = [
  'identity',
  'preference',
  'style',
  'habit',
  'constraint',
  'decision',
  'project',
  'environment',
  'other',
] as const;
export const RELATIONS = ['new', 'duplicate', 'supersedes', 'contradicts'] as const;

/** A fact as a model proposes it. */
export interface Proposed {
  text: string;
  kind: (typeof FACT_KINDS)[number];
  slot: string | null;
  valid_from: string | null;
  valid_to: string | null;
  evidence: Claimed[];
  relation: (typeof RELATIONS)[number];
  /** The number of a known fact, from 1. */
  target: number | null;
  /** How much it says about the person: 1 (least) to 5. */
  salience: number;
}

/** What a model was shown: the rows by their numbers, the known facts by theirs. */
export interface Shown {
  rows: readonly SourceRow[];
  known: readonly { id: string }[];
  /** What else it was shown, which nobody is quoted from. */
  others: readonly string[];
}

/** More of an answer, or of one fact, is not looked at. */
const PROPOSALS_MAX = 40;
export const EVIDENCE_MAX = 8;
const TEXT_MAX = 500;
const SLOT = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){0,3}$/;
const SLOT_MAX = 80;
/** How sure a quote of the person's makes. */
const CONFIDENCE = 0.9;

/**
 * The proposals that pass, most salient first: with a quote of the person's own, in words that are not mainly others',
 * without a secret. An instruction passes only if the person said it, and as a statement of that. Nothing here believes
 * the model: what cannot be checked is dropped.
 */
export function admitted(proposals: readonly Proposed[], shown: Shown): Statement[] {
  const record = new Evidence(shown.rows, shown.others);
  return proposals
    .toSorted((a, b) => b.salience - a.salience)
    .slice(0, PROPOSALS_MAX)
    .flatMap((proposal) => admit(proposal, shown, record) ?? []);
}

function admit(proposal: Proposed, { rows, known }: Shown, record: Evidence): Statement | undefined {
  const { kind, slot, evidence, relation, target } = proposal;
  const text = proposal.text.trim();
  if (text === '' || [...text].length > TEXT_MAX) return undefined;
  const quotes = record.quotes(evidence.slice(0, EVIDENCE_MAX));
  if (quotes === undefined || record.isBorrowed(text, quotes) || holdsSecret(text)) return undefined;
  if (quotes.some(({ words }) => holdsSecret(words))) return undefined;
  if (isInstruction(text) && !record.wasSaid(text, quotes)) return undefined;
  const fact = target === null ? undefined : known[target - 1];
  const cited = citedBy(quotes, rows);
  const said = Math.max(...cited.map(({ occurredAt }) => occurredAt.getTime()));
  const from = timeOf(proposal.valid_from) ?? said;
  const to = timeOf(proposal.valid_to);
  return {
    text: asStatement(text),
    kind,
    slot: slot !== null && slot.length <= SLOT_MAX && SLOT.test(slot) ? slot : null,
    origin: 'model',
    confidence: CONFIDENCE,
    validFrom: new Date(from),
    validTo: to !== undefined && to >= from ? new Date(to) : null,
    quotes,
    target: fact === undefined || relation === 'new' ? null : { id: fact.id, relation: relationOf(relation) },
  };
}

/** The person's own rows among those quoted. */
function citedBy(quotes: readonly CheckedQuote[], rows: readonly SourceRow[]): SourceRow[] {
  const own = new Set(quotes.filter((quote) => quote.own).map(({ rawId }) => rawId));
  return rows.filter(({ id }) => own.has(id));
}

/** What contradicts a fact replaces it; which of them holds is decided by time. */
function relationOf(relation: Exclude<Proposed['relation'], 'new'>): 'duplicate' | 'supersedes' {
  return relation === 'duplicate' ? 'duplicate' : 'supersedes';
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** A date or a moment as a model writes it, in milliseconds; undefined for anything else. */
function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const moment = momentOf(DATE.test(text) ? `${text}T00:00:00Z` : text);
  return moment === undefined || moment < EARLIEST ? undefined : moment;
}
