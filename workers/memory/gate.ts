import { COMMON_WORDS, stemOf } from '../../shared/domain/facts/compare.ts';
import { QuotedTexts } from '../../shared/domain/facts/passage.ts';
import { pastedParts, spokenParts } from '../../shared/domain/facts/source.ts';
import {
  asStatement,
  type CheckedQuote,
  isEvidence,
  isInstruction,
  isRetraction,
  mayTellSecret,
  type Quote,
  type SourceRow,
  type Statement,
} from '../../shared/domain/facts/statement.ts';
import { EARLIEST_TIME_MS, momentOf } from '../../shared/schemas/moment.ts';
import { truncate } from '../../shared/text/cut.ts';
import { normalForm, UNSPACED_SCRIPTS, wordsOf } from '../../shared/text/words.ts';
import { mapInSlices } from '../../shared/timing/slices.ts';
import { supports } from './stated.ts';

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
  /** Number from 1 (says little about the person) to 5 (says much). */
  salience: number;
}

/** Memory that a model was shown, in the order of the numbers it saw. */
export interface ShownMemory {
  rows: readonly SourceRow[];
  known: readonly { id: string }[];
  /** Titles of episodes. A quote from a title is no evidence. */
  titles: readonly string[];
}

const PROPOSALS_MAX = 40;
export const EVIDENCE_MAX = 8;
const TEXT_CHARS_MAX = 500;
const SLOT_PATTERN = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){0,3}$/;
const SLOT_CHARS_MAX = 80;
const MODEL_CONFIDENCE = 0.9;

/**
 * Returns the proposals that pass all checks, most salient first. A proposal must quote the person's own words. It must
 * not contain a secret, or consist mainly of other people's words. It may be an instruction only if the person gave the
 * instruction. Works in slices, because each character counts as a word in scripts without spaces.
 */
export async function checkProposals(
  proposals: readonly ProposedFact[],
  shown: ShownMemory,
): Promise<Statement[]> {
  const record = new EvidenceTexts(await mapInSlices(shown.rows, analyseRow), shown.titles);
  const considered = proposals.toSorted((a, b) => b.salience - a.salience).slice(0, PROPOSALS_MAX);
  const statements = await mapInSlices(considered, (proposal) => checkProposal(proposal, shown, record));
  return statements.filter((statement) => statement !== undefined);
}

function checkProposal(
  proposal: ProposedFact,
  { known }: ShownMemory,
  record: EvidenceTexts,
): Statement | undefined {
  const { kind, slot, evidence, relation, target } = proposal;
  const text = proposal.text.trim();
  if (text === '' || [...text].length > TEXT_CHARS_MAX) return undefined;
  const quotes = record.checkQuotes(evidence.slice(0, EVIDENCE_MAX));
  if (quotes === undefined || !record.isSupported(text, quotes)) return undefined;
  if (record.isBorrowed(text, quotes) || mayTellSecret(text)) return undefined;
  if (quotes.some(({ words }) => mayTellSecret(words))) return undefined;
  if (isRetraction(text) || (isInstruction(text) && !record.isStated(text, quotes))) return undefined;
  const fact = target === null || relation === 'new' ? undefined : known[target - 1];
  const toMs = timeOf(proposal.valid_to);
  const saidAt = record.latestTimeOf(quotes);
  // Without `valid_from`, a statement is valid from the time when it was said, or from `valid_to` if that is earlier.
  const fromMs = timeOf(proposal.valid_from) ?? Math.min(saidAt, toMs ?? saidAt);
  if (proposal.valid_to !== null && (toMs === undefined || toMs < fromMs)) return undefined;
  return {
    text: asStatement(text),
    kind,
    slot: slot !== null && slot.length <= SLOT_CHARS_MAX && SLOT_PATTERN.test(slot) ? slot : null,
    origin: 'model',
    confidence: MODEL_CONFIDENCE,
    validFrom: new Date(fromMs),
    validTo: toMs === undefined ? null : new Date(toMs),
    quotes,
    // A contradiction counts as superseding: the later of the two facts is valid.
    target: fact ? { id: fact.id, relation: relation === 'duplicate' ? relation : 'supersedes' } : null,
  };
}

/** Returns undefined for a text that is no date or time, or for a time before `EARLIEST_TIME_MS`. */
function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const moment = momentOf(text);
  return moment === undefined || moment < EARLIEST_TIME_MS ? undefined : moment;
}

/** Maximum length of a quote in code points. */
const QUOTE_CHARS_MAX = 240;

/** Evidence that a model cites: the number of a row, counted from 1, and words in that row. */
export interface CitedEvidence {
  source: number;
  quote: string;
}

/** Minimum length in UTF-16 units of a word that is compared. */
const WORD_CHARS_MIN = 3;
/**
 * Maximum ratio of other people's words to the person's own words in a statement. It is above 1, because a person may
 * answer a question in one word, and the statement then takes its topic from the question.
 */
const BORROWED_RATIO_MAX = 2;

interface AnalysedRow {
  id: string;
  at: number;
  own: boolean;
  quotableTexts: readonly string[];
  passages: QuotedTexts;
  stems: ReadonlySet<string>;
  /** Texts in the row that the person did not write. */
  others: readonly string[];
}

/**
 * The texts that a model was shown, to check the model's quotes. `others` are texts that are not rows, such as titles.
 */
class EvidenceTexts {
  readonly #rows: readonly AnalysedRow[];
  readonly #othersStems: ReadonlySet<string>;

  constructor(rows: readonly AnalysedRow[], others: readonly string[]) {
    this.#rows = rows;
    this.#othersStems = stemsOf([...rows.flatMap((row) => row.others), ...others]);
  }

  /**
   * Returns the quotes that really occur in their rows, at most one for each row, spelled as in the row, the person's
   * own first. Returns undefined if no quote is the person's own.
   */
  checkQuotes(evidence: readonly CitedEvidence[]): CheckedQuote[] | undefined {
    const foundQuotes = evidence.flatMap(({ source, quote }) => {
      const row = this.#rows[source - 1];
      const words = row && quotedIn(row, quote);
      return row === undefined || words === undefined ? [] : [{ rawId: row.id, words, own: row.own }];
    });
    const ownQuotes = foundQuotes.filter((quote) => quote.own);
    if (ownQuotes.length === 0) return undefined;
    const isFirst = ({ rawId }: CheckedQuote, at: number, all: readonly CheckedQuote[]) =>
      all.findIndex((other) => other.rawId === rawId) === at;
    return [...ownQuotes, ...foundQuotes].filter(isFirst);
  }

  /**
   * Reports whether a statement rests mainly on the words of others. Words that nobody said are a paraphrase, and do
   * not count.
   */
  isBorrowed(text: string, quotes: readonly Quote[]): boolean {
    const ownCitedRows = this.#ownRowsCitedBy(quotes);
    const stems = [...stemsOf([text])];
    const isOwn = (stem: string) => ownCitedRows.some((row) => row.stems.has(stem));
    const ownCount = stems.filter(isOwn).length;
    const borrowedCount = stems.filter((stem) => this.#othersStems.has(stem) && !isOwn(stem)).length;
    return borrowedCount > BORROWED_RATIO_MAX * ownCount;
  }

  /** Reports whether one of the person's own quotes, to the end of its sentence, says something of the statement. */
  isSupported(text: string, quotes: readonly CheckedQuote[]): boolean {
    return quotes.some(({ rawId, words, own }) => {
      const texts = this.#rows.find(({ id }) => id === rawId)?.quotableTexts ?? [];
      return own && supports(sentencesFrom(words, texts), text);
    });
  }

  latestTimeOf(quotes: readonly Quote[]): number {
    return Math.max(...this.#ownRowsCitedBy(quotes).map(({ at }) => at));
  }

  isStated(text: string, quotes: readonly Quote[]): boolean {
    return this.#ownRowsCitedBy(quotes).some((row) => quotedIn(row, text) !== undefined);
  }

  #ownRowsCitedBy(quotes: readonly Quote[]): AnalysedRow[] {
    return this.#rows.filter(({ id, own }) => own && quotes.some(({ rawId }) => rawId === id));
  }
}

/** The pasted parts of a person's own row are texts of others, and not quotable. */
function analyseRow(row: SourceRow): AnalysedRow {
  const { id, content } = row;
  const own = isEvidence(row);
  const quotableTexts = own ? spokenParts(content) : [content];
  return {
    id,
    at: row.occurredAt.getTime(),
    own,
    quotableTexts: quotableTexts.map((text) => normalForm(text, 'NFC')),
    passages: new QuotedTexts(quotableTexts),
    stems: stemsOf(quotableTexts),
    others: own ? pastedParts(content) : [content],
  };
}

/** Returns the quoted passage in the spelling of the row, cut to `QUOTE_CHARS_MAX`. */
function quotedIn({ passages }: AnalysedRow, quote: string): string | undefined {
  const found = passages.passageOf(quote);
  return found && truncate(found, QUOTE_CHARS_MAX);
}

/** Returns the words with the rest of their last sentence, because a quote ends before the mark that makes a question. */
function sentencesFrom(words: string, texts: readonly string[]): string {
  const text = texts.find((one) => one.includes(words)) ?? '';
  const rest =
    /^[^.!?。！？\n]*[.!?。！？]*/u.exec(text.slice(text.indexOf(words) + words.length))?.[0] ?? '';
  return words + rest;
}

const UNSPACED_PATTERN = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');

function stemsOf(texts: readonly string[]): Set<string> {
  const isMeaningful = (word: string) =>
    (word.length >= WORD_CHARS_MIN || UNSPACED_PATTERN.test(word)) && !COMMON_WORDS.has(word);
  const words = texts.flatMap(wordsOf).filter(isMeaningful);
  return new Set(words.map(stemOf));
}
