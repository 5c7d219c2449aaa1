import { keyOf, type Statement, statementsIn } from './statements.ts';
import { shinglesOf, type Truth } from './truth.ts';

export interface ScoredFact {
  id: string;
  text: string;
  sources: { tier: string; id: string; quote: string | null }[];
}

export interface ScoredRaw {
  id: string;
  content: string;
  role: string | null;
  origin: string;
}

/** Counts of one person or of several. Those of several are added up before a rate is taken. */
export type Counts = Record<string, number>;

export function sum(counts: readonly Counts[]): Counts {
  const total: Counts = {};
  for (const one of counts) for (const [name, n] of Object.entries(one)) total[name] = (total[name] ?? 0) + n;
  return total;
}

/** Divides the count named `n` by the count named `of`. Returns `none` if the latter is 0. */
export function rate(counts: Counts, n: string, of: string, none = 1): number {
  const whole = counts[of] ?? 0;
  return whole === 0 ? none : (counts[n] ?? 0) / whole;
}

/** Relation of a fact to the truth: `other` if the fact states nothing that a persona could have said. */
export type Verdict = 'right' | 'superseded' | 'neverSaid' | 'other';

function verdictOf(text: string, truth: Truth): Verdict {
  const stated = statementsIn(text).map(keyOf);
  const active = new Set(truth.active.map(keyOf));
  const superseded = new Set(truth.superseded.map(keyOf));
  if (stated.some((key) => !active.has(key) && !superseded.has(key))) return 'neverSaid';
  if (stated.some((key) => superseded.has(key))) return 'superseded';
  return stated.length > 0 ? 'right' : 'other';
}

/** Compares current facts with the truth: precision is `right` of `facts`, recall is `recalled` of `truths`. */
export function factCounts(facts: readonly ScoredFact[], truth: Truth): Counts {
  const verdicts = facts.map(({ text }) => verdictOf(text, truth));
  const count = (verdict: Verdict) => verdicts.filter((one) => one === verdict).length;
  const stated = new Set(facts.flatMap(({ text }) => statementsIn(text).map(keyOf)));
  return {
    facts: facts.length,
    right: count('right'),
    superseded: count('superseded'),
    neverSaid: count('neverSaid'),
    other: count('other'),
    truths: truth.active.length,
    recalled: truth.active.filter((statement) => stated.has(keyOf(statement))).length,
  };
}

/** Counts the statements made in three wordings, their facts, and those with exactly one fact. */
export function repeatCounts(facts: readonly ScoredFact[], repeated: readonly Statement[]): Counts {
  const stated = facts.map(({ text }) => statementsIn(text).map(keyOf));
  const copies = repeated.map((one) => stated.filter((keys) => keys.includes(keyOf(one))).length);
  return {
    repeated: repeated.length,
    copies: copies.reduce((all, n) => all + n, 0),
    single: copies.filter((n) => n === 1).length,
  };
}

export function mistakesIn(facts: readonly ScoredFact[], truth: Truth): string[] {
  const texts = facts.map(({ text }) => text);
  const wrong = texts.flatMap((text) => {
    const verdict = verdictOf(text, truth);
    return verdict === 'right' ? [] : `${verdict}: ${text}`;
  });
  const factsByStatement = truth.active.map((statement) => {
    const key = keyOf(statement);
    return { key, same: texts.filter((text) => statementsIn(text).some((one) => keyOf(one) === key)) };
  });
  return [
    ...wrong,
    ...factsByStatement.flatMap(({ key, same }) => (same.length === 0 ? `missing: ${key}` : [])),
    ...factsByStatement.flatMap(({ key, same }) =>
      same.length > 1 ? `repeated: ${key}: ${same.join(' | ')}` : [],
    ),
  ];
}

/** Counts the facts of a context bundle: `bundledStale` of `bundled` state something superseded. */
export function bundleCounts(texts: readonly string[], truth: Truth): Counts {
  const stale = texts.filter((text) => verdictOf(text, truth) === 'superseded');
  return { bundled: texts.length, bundledStale: stale.length };
}

/** Counts quotes that occur in the row they cite, and facts attested by a row that the person wrote. */
export function groundingCounts(facts: readonly ScoredFact[], rows: readonly ScoredRaw[]): Counts {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const quotes = facts.flatMap(({ sources }) => sources.filter(({ quote }) => quote !== null));
  const isGrounded = ({ id, quote }: ScoredFact['sources'][number]) =>
    normalizeText(byId.get(id)?.content ?? '').includes(normalizeText(quote ?? '')) &&
    normalizeText(quote ?? '').trim() !== '';
  const isAttested = ({ sources }: ScoredFact) =>
    sources.some(
      (source) => source.quote !== null && isGrounded(source) && isWrittenByPerson(byId.get(source.id)),
    );
  return {
    quotes: quotes.length,
    groundedQuotes: quotes.filter(isGrounded).length,
    attestedFacts: facts.filter(isAttested).length,
  };
}

const isWrittenByPerson = (row: ScoredRaw | undefined): boolean =>
  row?.role === 'human' && row.origin === 'human';

function normalizeText(text: string): string {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return ` ${words.join(' ')} `;
}

export function leaksIn(texts: Iterable<string>, gone: ReadonlySet<string>): string[] {
  const leaked = new Set<string>();
  for (const text of texts)
    for (const shingle of shinglesOf(text)) if (gone.has(shingle)) leaked.add(shingle);
  return [...leaked];
}

export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) yield* textsIn(part);
}
