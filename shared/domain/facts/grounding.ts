import { spokenIn } from './spoken.ts';
import { isEvidence, type Quote, type SourceRow } from './statement.ts';
import { containment, isWithin, stemOf, wordsOf } from './words.ts';

/** The share of a quote's word trigrams that must stand in the row, where the quote is not copied exactly. */
const CONTAINED = 0.8;
const QUOTE_MAX = 240;

/** Where a statement is said to come from: the number of a row, from 1, and the words in it. */
export interface Claimed {
  source: number;
  quote: string;
}

/**
 * The quotes that are really in the rows that they name, one for each row, words of the person first. Undefined when none
 * of them is the person's own: what an agent said, what a person accepted or pasted states nothing about the person.
 */
export function groundedQuotes(claims: readonly Claimed[], rows: readonly SourceRow[]): Quote[] | undefined {
  const found = claims.flatMap(({ source, quote }) => {
    const row = rows[source - 1];
    return row !== undefined && isQuoted(quote, said(row)) ? [{ row, quote }] : [];
  });
  const own = found.filter(({ row }) => isEvidence(row));
  if (own.length === 0) return undefined;
  const byRow = new Map<string, Quote>();
  for (const { row, quote } of [...own, ...found])
    if (!byRow.has(row.id)) byRow.set(row.id, { rawId: row.id, words: cut(quote) });
  return [...byRow.values()];
}

/** Whether a row has a quote: its words in a row, or nearly all of its word trigrams. */
export function isQuoted(quote: string, content: string): boolean {
  return isWithin(quote, content) || containment(quote, content) >= CONTAINED;
}

/** Of what a person sent only what the person said. */
function said(row: SourceRow): string {
  return isEvidence(row) ? spokenIn(row.content) : row.content;
}

const SHORTEST_WORD = 4;

/**
 * Whether a statement rests on words of others more than on the person's: an agent that asks to remember something, and a
 * "fine, thanks" of the person beside it as the quote. Words that nobody said are a paraphrase and do not count.
 */
export function isBorrowed(text: string, quotes: readonly Quote[], rows: readonly SourceRow[]): boolean {
  const cited = new Set(quotes.map(({ rawId }) => rawId));
  const own = stemsOf(rows.filter((row) => isEvidence(row) && cited.has(row.id)).map(said));
  const others = stemsOf(rows.filter((row) => !isEvidence(row)).map(({ content }) => content));
  const stems = [...stemsOf([text])].filter((stem) => !ABOUT_PEOPLE.has(stem));
  const supported = stems.filter((stem) => own.has(stem)).length;
  const borrowed = stems.filter((stem) => others.has(stem) && !own.has(stem)).length;
  return borrowed > supported;
}

function stemsOf(texts: readonly string[]): Set<string> {
  const words = texts.flatMap(wordsOf).filter((word) => word.length >= SHORTEST_WORD || /\p{N}/u.test(word));
  return new Set(words.map(stemOf));
}

/** Of words that a statement about a person has, whoever said it. */
const ABOUT_PEOPLE = stemsOf([
  'user person prefers uses always never likes wants their they them this that with from says',
]);

function cut(quote: string): string {
  return [...quote.trim()].slice(0, QUOTE_MAX).join('');
}

/** Whether two quotes of one row are of the same passage. */
export function overlap(a: string, b: string): boolean {
  if (isWithin(a, b) || isWithin(b, a)) return true;
  return Math.max(containment(a, b), containment(b, a)) >= 0.5;
}
