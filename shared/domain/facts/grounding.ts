import { COMMON } from './common-words.ts';
import { QuotedText } from './passage.ts';
import { pastedIn, spokenIn } from './spoken.ts';
import { type CheckedQuote, isEvidence, type Quote, type SourceRow } from './statement.ts';
import { stemOf, wordsOf } from './words.ts';

const QUOTE_MAX = 240;

/** Where a statement is said to come from: the number of a row, from 1, and the words in it. */
export interface Claimed {
  source: number;
  quote: string;
}

const SHORTEST_WORD = 3;
/** A statement may take its topic from a question ("Which package manager?") that a person answers in a word. */
const BORROWED_MAX = 2;

interface ReadRow {
  id: string;
  /** Whether it is the person's. */
  own: boolean;
  said: readonly QuotedText[];
  stems: ReadonlySet<string>;
}

/**
 * What a model was shown, as evidence for what it claims. `others` is what it was shown besides the rows. They are read once,
 * however much it claims.
 */
export class Evidence {
  readonly #rows: readonly ReadRow[];
  /** Of what others than the person said. */
  readonly #theirs: ReadonlySet<string>;

  constructor(rows: readonly SourceRow[], others: readonly string[]) {
    this.#rows = rows.map(readRow);
    this.#theirs = stemsOf([...rows.flatMap(saidByOthers), ...others]);
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
    const byRow = new Map<string, CheckedQuote>();
    for (const quote of [...own, ...found]) if (!byRow.has(quote.rawId)) byRow.set(quote.rawId, quote);
    return [...byRow.values()];
  }

  /**
   * Whether a statement rests on words of others rather than on the person's: an agent that asks to remember something, and
   * a "fine, thanks" of the person beside it as the quote. Words that nobody said are a paraphrase and do not count.
   */
  isBorrowed(text: string, quotes: readonly Quote[]): boolean {
    const cited = this.#citedBy(quotes);
    const stems = [...stemsOf([text])];
    const isOwn = (stem: string) => cited.some((row) => row.stems.has(stem));
    const supported = stems.filter(isOwn).length;
    const borrowed = stems.filter((stem) => this.#theirs.has(stem) && !isOwn(stem)).length;
    return borrowed > BORROWED_MAX * supported;
  }

  /** Whether the person said so in a row that is quoted. */
  wasSaid(text: string, quotes: readonly Quote[]): boolean {
    return this.#citedBy(quotes).some((row) => quotedIn(row, text) !== undefined);
  }

  /** The person's own rows among those quoted. */
  #citedBy(quotes: readonly Quote[]): ReadRow[] {
    return this.#rows.filter(({ id, own }) => own && quotes.some(({ rawId }) => rawId === id));
  }
}

function readRow(row: SourceRow): ReadRow {
  const said = saidIn(row);
  return {
    id: row.id,
    own: isEvidence(row),
    said: said.map((text) => new QuotedText(text)),
    stems: stemsOf(said),
  };
}

/** The passage of a row that a quote means, at most 240 code points of it. */
function quotedIn({ said }: ReadRow, quote: string): string | undefined {
  const passages = said.flatMap((text) => text.passageOf(quote) ?? []);
  return passages[0] && [...passages[0]].slice(0, QUOTE_MAX).join('');
}

/** Of what a person sent only what the person said. */
function saidIn(row: SourceRow): string[] {
  return isEvidence(row) ? spokenIn(row.content) : [row.content];
}

function saidByOthers(row: SourceRow): string[] {
  return isEvidence(row) ? pastedIn(row.content) : [row.content];
}

/** Scripts whose single characters are words (`words.ts`). */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Of the words that not every statement has. */
function stemsOf(texts: readonly string[]): Set<string> {
  const counts = (word: string) => (word.length >= SHORTEST_WORD || UNSPACED.test(word)) && !COMMON.has(word);
  const words = texts.flatMap(wordsOf).filter(counts);
  return new Set(words.map(stemOf));
}
