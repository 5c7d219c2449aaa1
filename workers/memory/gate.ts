import { COMMON_WORDS, stemOf } from '../../shared/domain/facts/compare.ts';
import { QuotedText } from '../../shared/domain/facts/passage.ts';
import { pastedParts, spokenParts } from '../../shared/domain/facts/source.ts';
import {
  asStatement,
  type CheckedQuote,
  isEvidence,
  isInstruction,
  type Quote,
  type SourceRow,
  type Statement,
} from '../../shared/domain/facts/statement.ts';
import { EARLIEST_TIME_MS, parseTimestamp } from '../../shared/domain/moment.ts';
import { truncate } from '../../shared/text/cut.ts';
import { containsSecret } from '../../shared/text/secrets.ts';
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

/** A fact that a model proposes. */
export interface ProposedFact {
  text: string;
  kind: (typeof FACT_KINDS)[number];
  slot: string | null;
  valid_from: string | null;
  valid_to: string | null;
  evidence: CitedEvidence[];
  relation: (typeof RELATIONS)[number];
  /** Number of a known fact, counted from 1. */
  target: number | null;
  /** How much it says about the person: 1 (least) to 5. */
  salience: number;
}

/** Memory that was shown to a model: rows and known facts, in the order of their numbers. */
export interface ShownMemory {
  rows: readonly SourceRow[];
  known: readonly { id: string }[];
  /** Titles of episodes that were shown. A quote from them is no evidence. */
  others: readonly string[];
}

/** Maximum number of proposals of an answer that are considered. */
const PROPOSALS_MAX = 40;
/** Maximum number of quotes for one fact that are considered. */
export const EVIDENCE_MAX = 8;
const TEXT_MAX = 500;
const SLOT = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){0,3}$/;
const SLOT_MAX = 80;
/** Confidence in a fact supported by a quote of the person's. */
const CONFIDENCE = 0.9;

/**
 * Returns the proposals that pass, most salient first. Each needs a quote of the person's own words, must not rest
 * mainly on words of others, and must contain no secret. An instruction passes only if the person gave it, and becomes
 * a statement that they did. The model is never simply believed: what cannot be checked is dropped.
 */
export function checkProposals(proposals: readonly ProposedFact[], shown: ShownMemory): Statement[] {
  const record = new EvidenceTexts(shown.rows, shown.others);
  return proposals
    .toSorted((a, b) => b.salience - a.salience)
    .slice(0, PROPOSALS_MAX)
    .flatMap((proposal) => admit(proposal, shown, record) ?? []);
}

function admit(proposal: ProposedFact, { known }: ShownMemory, record: EvidenceTexts): Statement | undefined {
  const { kind, slot, evidence, relation, target } = proposal;
  const text = proposal.text.trim();
  if (text === '' || [...text].length > TEXT_MAX) return undefined;
  const quotes = record.quotes(evidence.slice(0, EVIDENCE_MAX));
  if (quotes === undefined || record.isBorrowed(text, quotes) || containsSecret(text)) return undefined;
  if (quotes.some(({ words }) => containsSecret(words))) return undefined;
  if (isInstruction(text) && !record.isStated(text, quotes)) return undefined;
  const fact = target === null || relation === 'new' ? undefined : known[target - 1];
  const to = timeOf(proposal.valid_to);
  const said = record.latestTimeOf(quotes);
  // What ended before it was said held before that, not since.
  const from = timeOf(proposal.valid_from) ?? Math.min(said, to ?? said);
  if (proposal.valid_to !== null && (to === undefined || to < from)) return undefined;
  return {
    text: asStatement(text),
    kind,
    slot: slot !== null && slot.length <= SLOT_MAX && SLOT.test(slot) ? slot : null,
    origin: 'model',
    confidence: CONFIDENCE,
    validFrom: new Date(from),
    validTo: to === undefined ? null : new Date(to),
    quotes,
    // A contradiction counts as superseding: time decides which of the two facts holds.
    target: fact ? { id: fact.id, relation: relation === 'duplicate' ? relation : 'supersedes' } : null,
  };
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Returns a date or time that a model wrote, in Unix milliseconds; undefined for anything else. */
function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const moment = parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text);
  return moment === undefined || moment < EARLIEST_TIME_MS ? undefined : moment;
}

/** Maximum length of a quote, in code points. */
const QUOTE_MAX = 240;

/** Evidence that a model claims: the number of a row, counted from 1, and the words in it. */
export interface CitedEvidence {
  source: number;
  quote: string;
}

/** Minimum length of the words that are compared, in UTF-16 units. */
const WORD_CHARS_MIN = 3;
/**
 * Number of words from others that a statement may have for each word of the person's own: it may take its topic from a
 * question ("Which package manager?") that the person answers in one word.
 */
const BORROWED_MAX = 2;

interface ReadRow {
  id: string;
  /** Unix milliseconds. */
  at: number;
  /** True if the person wrote the row. */
  own: boolean;
  passages: readonly QuotedText[];
  stems: ReadonlySet<string>;
}

/**
 * The texts that a model was shown, against which its claims are checked. `others` are the texts besides the rows. Each
 * text is analysed once, however many claims are checked.
 */
export class EvidenceTexts {
  readonly #rows: readonly ReadRow[];
  /** Stems of the words that anyone but the person wrote. */
  readonly #othersStems: ReadonlySet<string>;

  constructor(rows: readonly SourceRow[], others: readonly string[]) {
    this.#rows = rows.map(readRow);
    this.#othersStems = stemsOf([...rows.flatMap(textsOfOthers), ...others]);
  }

  /**
   * Returns the claimed quotes that really occur in their rows, as the rows spell them: one for each row, the person's
   * first. Returns undefined if none is the person's own: what an agent said, or what the person only accepted or
   * pasted, states nothing about the person.
   */
  quotes(claims: readonly CitedEvidence[]): CheckedQuote[] | undefined {
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
   * Reports whether a statement rests on words of others rather than on the person's. It does if, for example, an agent
   * asked to remember something, and the quote is only the person's "fine, thanks". Words that nobody said are a
   * paraphrase and do not count.
   */
  isBorrowed(text: string, quotes: readonly Quote[]): boolean {
    const cited = this.#citedBy(quotes);
    const stems = [...stemsOf([text])];
    const isOwn = (stem: string) => cited.some((row) => row.stems.has(stem));
    const supported = stems.filter(isOwn).length;
    const borrowed = stems.filter((stem) => this.#othersStems.has(stem) && !isOwn(stem)).length;
    return borrowed > BORROWED_MAX * supported;
  }

  /** Returns the time of the latest quoted row of the person's, in Unix milliseconds. */
  latestTimeOf(quotes: readonly Quote[]): number {
    return Math.max(...this.#citedBy(quotes).map(({ at }) => at));
  }

  /** Reports whether the person says the text in a quoted row. */
  isStated(text: string, quotes: readonly Quote[]): boolean {
    return this.#citedBy(quotes).some((row) => quotedIn(row, text) !== undefined);
  }

  /** Returns the person's own rows among those quoted. */
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

/** Returns the passage of a row that a quote refers to, at most 240 code points of it. */
function quotedIn({ passages }: ReadRow, quote: string): string | undefined {
  const [found] = passages.flatMap((text) => text.passageOf(quote) ?? []);
  return found && truncate(found, QUOTE_MAX);
}

/** Returns the texts of a row that can be quoted: from a person's row, only what the person wrote in it. */
function quotableTexts(row: SourceRow): string[] {
  return isEvidence(row) ? spokenParts(row.content) : [row.content];
}

function textsOfOthers(row: SourceRow): string[] {
  return isEvidence(row) ? pastedParts(row.content) : [row.content];
}

const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

/** Returns the stems of the meaningful words of texts. */
function stemsOf(texts: readonly string[]): Set<string> {
  const isMeaningful = (word: string) =>
    (word.length >= WORD_CHARS_MIN || IS_UNSPACED.test(word)) && !COMMON_WORDS.has(word);
  const words = texts.flatMap(wordsOf).filter(isMeaningful);
  return new Set(words.map(stemOf));
}
