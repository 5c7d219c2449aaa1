import { COMMON, stemOf } from '../../shared/domain/facts/compare.ts';
import { QuotedText } from '../../shared/domain/facts/passage.ts';
import { pastedIn, spokenIn } from '../../shared/domain/facts/source.ts';
import {
  asStatement,
  type CheckedQuote,
  isEvidence,
  isInstruction,
  type Quote,
  type SourceRow,
  type Statement,
} from '../../shared/domain/facts/statement.ts';
import { EARLIEST, momentOf } from '../../shared/domain/moment.ts';
import { beginning } from '../../shared/text/cut.ts';
import { holdsSecret } from '../../shared/text/secrets.ts';
import { UNSPACED, wordsOf } from '../../shared/text/words.ts';

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

/** Memory that a model was shown: the rows by their numbers, the known facts by theirs. */
export interface Shown {
  rows: readonly SourceRow[];
  known: readonly { id: string }[];
  /** Other texts that it was shown, which are never quoted. */
  others: readonly string[];
}

/** More of an answer, or of one fact, is not looked at. */
const PROPOSALS_MAX = 40;
export const EVIDENCE_MAX = 8;
const TEXT_MAX = 500;
const SLOT = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){0,3}$/;
const SLOT_MAX = 80;
/** Confidence that a quote of the person's gives. */
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

function admit(proposal: Proposed, { known }: Shown, record: Evidence): Statement | undefined {
  const { kind, slot, evidence, relation, target } = proposal;
  const text = proposal.text.trim();
  if (text === '' || [...text].length > TEXT_MAX) return undefined;
  const quotes = record.quotes(evidence.slice(0, EVIDENCE_MAX));
  if (quotes === undefined || record.isBorrowed(text, quotes) || holdsSecret(text)) return undefined;
  if (quotes.some(({ words }) => holdsSecret(words))) return undefined;
  if (isInstruction(text) && !record.isStated(text, quotes)) return undefined;
  const fact = target === null || relation === 'new' ? undefined : known[target - 1];
  const from = timeOf(proposal.valid_from) ?? record.latestOf(quotes);
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
    // Time decides whether a fact that is contradicted still holds.
    target: fact ? { id: fact.id, relation: relation === 'duplicate' ? relation : 'supersedes' } : null,
  };
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** A date or a moment as a model writes it, in milliseconds; undefined for anything else. */
function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const moment = momentOf(DATE.test(text) ? `${text}T00:00:00Z` : text);
  return moment === undefined || moment < EARLIEST ? undefined : moment;
}

const QUOTE_MAX = 240;

/** Source of a statement, as the model names it: the number of a row, from 1, and the words in it. */
export interface Claimed {
  source: number;
  quote: string;
}

const SHORTEST_WORD = 3;
/** A statement may take its topic from a question ("Which package manager?") that a person answers in a word. */
const BORROWED_MAX = 2;

interface ReadRow {
  id: string;
  /** Unix milliseconds. */
  at: number;
  /** True if it is the person's. */
  own: boolean;
  passages: readonly QuotedText[];
  stems: ReadonlySet<string>;
}

/**
 * Evidence for what a model claims: what it was shown. `others` is what it was shown besides the rows. They are read once,
 * however much it claims.
 */
export class Evidence {
  readonly #rows: readonly ReadRow[];
  /** Index of words that others than the person wrote. */
  readonly #othersStems: ReadonlySet<string>;

  constructor(rows: readonly SourceRow[], others: readonly string[]) {
    this.#rows = rows.map(readRow);
    this.#othersStems = stemsOf([...rows.flatMap(textsOfOthers), ...others]);
  }

  /**
   * The quotes that are really in the rows that they name, in the words of these rows, one for each row, those of the person
   * first. Undefined when none of them is the person's own: what an agent said, what a person accepted or pasted states
   * nothing about the person.
   */
  quotes(claims: readonly Claimed[]): CheckedQuote[] | undefined {
    const found = claims.flatMap(({ source, quote }) => {
      const row = this.#rows[source - 1];
      const words = row && quotedIn(row, quote);
      return row === undefined || words === undefined ? [] : [{ rawId: row.id, words, own: row.own }];
    });
    const own = found.filter((quote) => quote.own);
    if (own.length === 0) return undefined;
    const isFirst = ({ rawId }: CheckedQuote, at: number, all: readonly CheckedQuote[]) =>
      all.findIndex((other) => other.rawId === rawId) === at;
    return [...own, ...found].filter(isFirst);
  }

  /**
   * True if a statement rests on words of others rather than on the person's: an agent that asks to remember something, and
   * a "fine, thanks" of the person beside it as the quote. Words that nobody said are a paraphrase and do not count.
   */
  isBorrowed(text: string, quotes: readonly Quote[]): boolean {
    const cited = this.#citedBy(quotes);
    const stems = [...stemsOf([text])];
    const isOwn = (stem: string) => cited.some((row) => row.stems.has(stem));
    const supported = stems.filter(isOwn).length;
    const borrowed = stems.filter((stem) => this.#othersStems.has(stem) && !isOwn(stem)).length;
    return borrowed > BORROWED_MAX * supported;
  }

  /** When the person wrote the latest of the rows that are quoted, in milliseconds. */
  latestOf(quotes: readonly Quote[]): number {
    return Math.max(...this.#citedBy(quotes).map(({ at }) => at));
  }

  /** True if the person says so in a row that is quoted. */
  isStated(text: string, quotes: readonly Quote[]): boolean {
    return this.#citedBy(quotes).some((row) => quotedIn(row, text) !== undefined);
  }

  /** The person's own rows among those quoted. */
  #citedBy(quotes: readonly Quote[]): ReadRow[] {
    return this.#rows.filter(({ id, own }) => own && quotes.some(({ rawId }) => rawId === id));
  }
}

function readRow(row: SourceRow): ReadRow {
  const texts = quotableTexts(row);
  return {
    id: row.id,
    at: row.occurredAt.getTime(),
    own: isEvidence(row),
    passages: texts.map((text) => new QuotedText(text)),
    stems: stemsOf(texts),
  };
}

/** The passage of a row that a quote means, at most 240 code points of it. */
function quotedIn({ passages }: ReadRow, quote: string): string | undefined {
  const [found] = passages.flatMap((text) => text.passageOf(quote) ?? []);
  return found && beginning(found, QUOTE_MAX);
}

/** Takes from a person's row only what the person wrote in it. */
function quotableTexts(row: SourceRow): string[] {
  return isEvidence(row) ? spokenIn(row.content) : [row.content];
}

function textsOfOthers(row: SourceRow): string[] {
  return isEvidence(row) ? pastedIn(row.content) : [row.content];
}

const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

/** Stems of the words that not every statement has. */
function stemsOf(texts: readonly string[]): Set<string> {
  const counts = (word: string) =>
    (word.length >= SHORTEST_WORD || IS_UNSPACED.test(word)) && !COMMON.has(word);
  const words = texts.flatMap(wordsOf).filter(counts);
  return new Set(words.map(stemOf));
}
