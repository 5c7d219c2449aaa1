import { COMMON } from './common-words.ts';
import { passageOf } from './passage.ts';
import { pastedIn, spokenIn } from './spoken.ts';
import { type CheckedQuote, isEvidence, type Quote, type SourceRow } from './statement.ts';
import { stemOf, wordsOf } from './words.ts';

const QUOTE_MAX = 240;

/** Where a statement is said to come from: the number of a row, from 1, and the words in it. */
export interface Claimed {
  source: number;
  quote: string;
}

/**
 * The quotes that are really in the rows that they name, in the words of these rows, one for each row, those of the person
 * first. Undefined when none of them is the person's own: what an agent said, what a person accepted or pasted states
 * nothing about the person.
 */
export function groundedQuotes(
  claims: readonly Claimed[],
  rows: readonly SourceRow[],
): CheckedQuote[] | undefined {
  const found = claims.flatMap(({ source, quote }) => {
    const row = rows[source - 1];
    const words = row && quotedIn(row, quote);
    return row === undefined || words === undefined ? [] : [{ rawId: row.id, words, own: isEvidence(row) }];
  });
  const own = found.filter((quote) => quote.own);
  if (own.length === 0) return undefined;
  const byRow = new Map<string, CheckedQuote>();
  for (const quote of [...own, ...found]) if (!byRow.has(quote.rawId)) byRow.set(quote.rawId, quote);
  return [...byRow.values()];
}

/** The passage of a row that a quote means, at most 240 code points of it. */
function quotedIn(row: SourceRow, quote: string): string | undefined {
  const passages = saidIn(row).flatMap((text) => passageOf(quote, text) ?? []);
  return passages[0] && [...passages[0]].slice(0, QUOTE_MAX).join('');
}

/** Of what a person sent only what the person said. */
export function saidIn(row: SourceRow): string[] {
  return isEvidence(row) ? spokenIn(row.content) : [row.content];
}

function saidByOthers(row: SourceRow): string[] {
  return isEvidence(row) ? pastedIn(row.content) : [row.content];
}

const SHORTEST_WORD = 3;
/** A statement may take its topic from a question ("Which package manager?") that a person answers in a word. */
const BORROWED_MAX = 2;

/**
 * Whether a statement rests on words of others rather than on the person's: an agent that asks to remember something, and
 * a "fine, thanks" of the person beside it as the quote. Words that nobody said are a paraphrase and do not count.
 * `others` is what else a model was shown.
 */
export function isBorrowed(
  text: string,
  quotes: readonly Quote[],
  rows: readonly SourceRow[],
  others: readonly string[],
): boolean {
  const cited = new Set(quotes.map(({ rawId }) => rawId));
  const own = stemsOf(rows.filter((row) => isEvidence(row) && cited.has(row.id)).flatMap(saidIn));
  const theirs = stemsOf([...rows.flatMap(saidByOthers), ...others]);
  const stems = [...stemsOf([text])];
  const supported = stems.filter((stem) => own.has(stem)).length;
  const borrowed = stems.filter((stem) => theirs.has(stem) && !own.has(stem)).length;
  return borrowed > BORROWED_MAX * supported;
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
